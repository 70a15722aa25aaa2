#!/usr/bin/env bash
# Berth's tasks: ./do TASK. Each does by itself the set-up that it needs, on Debian 12.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
  cat <<'TEXT'
./do TASK
  demo            build Berth, compare the schedulers on a trace, and run a dozen real jobs
  test            everything that CI runs: tests, sanitizers, fuzzers, checks of the source
  build           build/release/berth
  bench           speed from 10,000 to 1,000,000 jobs and on the Philly trace; start-up time
  lint [FILE]...  format, layers, headers, shell scripts, clang-tidy (of the files named, or all)
  fuzz [SECONDS]  each fuzz target for that long (default 10)
  setup [build]   install the Debian packages (only those to build with)
TEXT
}

# --- set-up ---------------------------------------------------------------------------------------

installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# The packages of the kinds named ("build", "test") that are not installed, one a line.
missing_packages() {
  local kind package
  while read -r kind package; do
    if [[ " $* " == *" $kind "* ]] && ! installed "$package"; then echo "$package"; fi
  done < tools/packages
}

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

# Installs what is missing; needs no network when nothing is.
setup() {
  if ! command -v dpkg-query > /dev/null; then
    echo "setup: this is not Debian; tools/packages lists what the build needs" >&2
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} == 0 ]] && return
  echo "setup: installing from Debian: ${missing[*]}"
  if [[ $(id -u) != 0 ]] && ! command -v sudo > /dev/null; then
    echo "setup: needs root or sudo; or run as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  as_root "${apt[@]}" update
  as_root "${apt[@]}" install -y --no-install-recommends "${missing[@]}" > /dev/null
}

# --- build ----------------------------------------------------------------------------------------

# The binary alone, without what only tests need.
build_berth() {
  local tests=()
  [[ -e build/release/CMakeCache.txt ]] || tests=(-DBERTH_TESTS=OFF -DBERTH_BENCH=OFF)
  mkdir -p build
  cmake --preset release "${tests[@]}" > build/configure.log || { cat build/configure.log >&2; exit 1; }
  cmake --build --preset release --target berth train_mlp
}

# --- tasks ----------------------------------------------------------------------------------------

task=${1:-help}
[[ $# == 0 ]] || shift
case $task in
  setup)
    if [[ ${1:-} == build ]]; then setup build; else setup build test; fi
    echo "setup: everything is installed"
    ;;
  build)
    setup build
    build_berth
    ;;
  demo)
    setup build
    build_berth
    tools/demo
    tools/demo-jobs
    ;;
  test)
    setup build test
    tools/test
    ;;
  bench)
    setup build test
    build_berth
    bench/run "$@"
    ;;
  lint)
    setup build test
    tools/lint "$@"
    ;;
  fuzz)
    setup build test
    tools/fuzz "$@"
    ;;
  help | -h | --help) usage ;;
  *)
    echo "./do: unknown task '$task'" >&2
    usage >&2
    exit 2
    ;;
esac
