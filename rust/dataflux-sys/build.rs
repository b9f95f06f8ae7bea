//! Finds libdataflux, or builds it; lib.rs says in which order.

use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::{env, fs};

const MISSING: &str = "libdataflux was not found. Install it (`cmake --install`, or a package), or set \
    DATAFLUX_LIB_DIR to the folder of libdataflux.so, or take the feature `bundled`, which builds it";

fn fail(why: &str) -> ! {
    println!("cargo::error={why}");
    exit(1)
}

/// What a program prints, if it ends well.
fn output(program: &mut Command) -> Option<String> {
    let came = program.output().ok()?;
    came.status.success().then(|| String::from_utf8_lossy(&came.stdout).into_owned())
}

fn run(program: &mut Command) {
    match program.status() {
        Ok(status) if status.success() => (),
        Ok(status) => fail(&format!("{program:?} ended with {status}")),
        Err(why) => fail(&format!("{program:?}: {why}")),
    }
}

/// Builds the C library of the tree in OUT_DIR and gives the folder that it lies in.
fn build_bundled() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !source.join("c_api").exists() {
        fail(
            "the feature `bundled` builds the tree that dataflux-sys lies in, and this is not there",
        );
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("cmake");
    for part in ["include", "c_api", "src", "cmake", "CMakeLists.txt"] {
        println!("cargo::rerun-if-changed={}", source.join(part).display());
    }
    run(Command::new("cmake").arg("-S").arg(&source).arg("-B").arg(&out).args([
        "-DCMAKE_BUILD_TYPE=Release",
        "-DDATAFLUX_C_API=ON",
        "-DDATAFLUX_DEVELOPER=OFF",
    ]));
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "1".into());
    run(Command::new("cmake").arg("--build").arg(&out).args([
        "--target",
        "dataflux_c",
        "-j",
        &jobs,
    ]));
    out
}

/// The folder that pkg-config names; empty where it is one of the linker's own.
fn installed() -> Option<String> {
    let pkg_config = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let mut ask = Command::new(pkg_config);
    let flags = output(ask.args(["--libs-only-L", "dataflux-c >= 0.1.0"]))?;
    Some(flags.split_whitespace().find_map(|flag| flag.strip_prefix("-L")).unwrap_or("").to_owned())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["DATAFLUX_LIB_DIR", "PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rustc-link-lib=dylib=dataflux");
    let folder = if env::var_os("DOCS_RS").is_some() {
        return; // documentation is made without the library
    } else if let Ok(given) = env::var("DATAFLUX_LIB_DIR") {
        if !Path::new(&given).join("libdataflux.so").exists() {
            fail(&format!("DATAFLUX_LIB_DIR is {given}, where there is no libdataflux.so"));
        }
        given
    } else if env::var_os("CARGO_FEATURE_BUNDLED").is_some() {
        build_bundled().display().to_string()
    } else {
        installed().unwrap_or_else(|| fail(MISSING))
    };
    if !folder.is_empty() {
        let folder = fs::canonicalize(&folder).unwrap_or_else(|_| PathBuf::from(&folder));
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::metadata=lib_dir={}", folder.display());
    }
}
