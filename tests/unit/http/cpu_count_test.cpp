#include <dataflux/http/detail/cpu_count.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace cpu_count_test {

namespace {

using dataflux::detail::http::cpu_count;

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text << '\n';
}

}  // namespace

TEST_CASE("cpu_count: a quota of control groups counts, a parent's, too (mend 15)", "[http]") {
  temporary_folder folder;
  const std::string root = folder.path.string();
  CHECK(cpu_count(96, root) == 96);
  CHECK(cpu_count(0, root) == 1);
  write(root + "/proc/self/cgroup", "0::/job/step");
  CHECK(cpu_count(96, root) == 96);
  const std::string groups = root + "/sys/fs/cgroup";
  write(groups + "/job/step/cpu.max", "max 100000");
  CHECK(cpu_count(96, root) == 96);
  write(groups + "/job/step/cpu.max", "250000 100000");
  CHECK(cpu_count(96, root) == 3);
  CHECK(cpu_count(2, root) == 2);
  write(groups + "/job/cpu.max", "10000 100000");
  CHECK(cpu_count(96, root) == 1);
}

TEST_CASE("cpu_count: a container sees its own group as the root (mend 15)", "[http]") {
  temporary_folder folder;
  const std::string root = folder.path.string();
  SECTION("version 2") {
    write(root + "/proc/self/cgroup", "0::/");
    write(root + "/sys/fs/cgroup/cpu.max", "800000 100000");
  }
  SECTION("version 1, whose path is the host's") {
    write(root + "/proc/self/cgroup",
          "5:cpuset:/docker/1\n4:cpu,cpuacct:/docker/1\n1:name=systemd:/x");
    write(root + "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "800000");
    write(root + "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  }
  CHECK(cpu_count(96, root) == 8);
}

TEST_CASE("cpu_count: what is not to be understood is no quota (mend 15)", "[http]") {
  temporary_folder folder;
  const std::string root = folder.path.string();
  for (const char* text : {"", "x", "-1", "0 100000", "100000 0", "100000"}) {
    write(root + "/proc/self/cgroup", "0::/\n::\n4:cpu:/a\nnonsense");
    write(root + "/sys/fs/cgroup/cpu.max", text);
    write(root + "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1");
    write(root + "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
    CHECK(cpu_count(96, root) == 96);
  }
}

}  // namespace cpu_count_test
