#include <support/list_model.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  std::string shapes{all_shapes};
  std::uint64_t size = 1000000;
  std::uint64_t seeds = 8;
  std::uint32_t slots = 48;
  bool jitter = false;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--shapes") shapes = argv[++i];
    if (a == "--size") size = std::strtoull(argv[++i], nullptr, 10);
    if (a == "--seeds") seeds = std::strtoull(argv[++i], nullptr, 10);
    if (a == "--slots") slots = static_cast<std::uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    if (a == "--jitter") jitter = true;
  }
  for (const char c : shapes) {
    std::vector<double> speed, calls;
    list_outcome last;
    double empty = 0, dropped = 0, probes = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const auto shape = make_shape(c, size, seed);
      call_cost cost;
      cost.jitter = jitter;
      cost.dice.seed(seed);
      list_model m(*shape, slots, cost);
      last = m.run();
      speed.push_back(call_cost::sequential(shape->size()) / last.makespan);
      calls.push_back(double(last.calls) - double((shape->size() + 999) / 1000));
      empty += double(last.empty); dropped += double(last.dropped); probes += double(last.probes);
      double full=-1, lastfull=0, idle_mid=0, idle_start=0, idle_end=0;
      for (size_t i=0;i<last.busy.size();++i) { if (last.busy[i].second>=slots*9/10) { if (full<0) full=last.busy[i].first; lastfull = i+1<last.busy.size()? last.busy[i+1].first : last.makespan; } }
      for (size_t i=0;i<last.busy.size();++i) { double t1=i+1<last.busy.size()? last.busy[i+1].first:last.makespan; double a=(t1-last.busy[i].first)*(double(slots)-last.busy[i].second); (last.busy[i].first<full?idle_start:last.busy[i].first>=lastfull?idle_end:idle_mid)+=a/slots; }
      if (std::getenv("PHASE")) std::printf("  %c seed %lu speed %.1f makespan %.2f: full at %.2f, idle start %.2f mid %.2f end %.2f; calls %lu probes %lu dropped %lu\n", c, seed, speed.back(), last.makespan, full, idle_start, idle_mid, idle_end, last.calls, last.probes, last.dropped);
      if (std::getenv("BUSY")) for (auto [t, n] : last.busy) std::printf("B %.3f %u\n", t, n);
    }
    std::sort(speed.begin(), speed.end());
    std::sort(calls.begin(), calls.end());
    const double n = double(seeds);
    std::printf("%c %9lu  speed med %5.1f worst %5.1f best %5.1f | extra calls med %5.0f worst %5.0f (x%.2f slots) | empty %.0f dropped %.0f probes %.0f | cpu %.3f us/obj\n", c, size, speed[speed.size()/2], speed[0], speed.back(), calls[calls.size()/2], calls.back(), calls[calls.size()/2]/slots, empty/n, dropped/n, probes/n, last.splitter_seconds*1e6/double(size));
    std::fflush(stdout);
  }
}
