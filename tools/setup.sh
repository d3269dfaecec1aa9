# Shared by ./run and ./test: missing Debian packages are installed, the tree is configured and built. Sourced by both.
# shellcheck shell=bash
#
# Nothing is done twice: with all packages there and nothing changed, this takes a fraction of a second. Output of the
# tools goes to a log; it is shown when something fails, or as it comes when `verbose` is not empty.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
log_folder=$top/build/log
verbose=
preset=release  # of CMakePresets.json: the preset that build_and_log builds

packages=(
  g++ cmake ninja-build python3
  libboost-graph-dev libcli11-dev libexpected-dev libfmt-dev libgmock-dev libgtest-dev libpugixml-dev libyaml-cpp-dev
  libprotobuf-dev libsimdjson-dev libsqlite3-dev nlohmann-json3-dev protobuf-compiler zlib1g-dev
)

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "error: $*"
  exit 1
}

# quietly NAME COMMAND...: runs the command with its output in build/log/NAME.log, and shows the log if it fails.
quietly() {
  local log=$log_folder/$1.log
  shift
  mkdir -p "$log_folder"
  if [ -n "$verbose" ]; then
    "$@" >&2
    return
  fi
  "$@" >"$log" 2>&1 && return
  local status=$?
  tail -n 60 "$log" >&2
  say "(the whole output is in ${log#"$top"/})"
  return "$status"
}

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: nothing is installed; install the equivalents of: ${packages[*]}"
    return
  fi
  local missing root=()
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "please install as root: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  local apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  quietly apt-update "${apt[@]}" update || say "warning: the package lists could not be refreshed; trying with the old ones"
  quietly apt-install "${apt[@]}" install --no-install-recommends "${missing[@]}" || fail "the packages could not be installed"
}

# A compiler process of this project takes up to 1.95 GB: as many as cores and memory allow.
build_jobs() {
  local cores memory_kb by_memory
  cores=$(nproc)
  memory_kb=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null)
  by_memory=$((${memory_kb:-4000000} / 1950000))
  [ "$by_memory" -lt 1 ] && by_memory=1
  echo $((cores < by_memory ? cores : by_memory))
}

# Reads Ninja's "[12/130] ..." lines: one line that moves on a terminal, else a line at each tenth of the steps.
show_progress() {
  local line last=0 tenth
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    local done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
    [ "$all" -lt 5 ] && continue
    [ "$all" -ge 20 ] && [ "$done" -eq 1 ] && say "building $all files with $(build_jobs) processes at a time"
    if [ -t 2 ]; then
      printf '\rbuilding %d of %d ' "$done" "$all" >&2
      [ "$done" -eq "$all" ] && printf '\r\033[K' >&2
      continue
    fi
    tenth=$((done * 10 / all))
    [ "$tenth" -gt "$last" ] && say "building: $done of $all"
    last=$tenth
  done
}

# build_and_log TARGET...
build_and_log() {
  local log=$log_folder/build.log
  local command=(cmake --build "$top/build/$preset" --parallel "$(build_jobs)" --target "$@")
  if [ -n "$verbose" ]; then
    "${command[@]}" >&2
    return
  fi
  mkdir -p "$log_folder"
  "${command[@]}" 2>&1 | tee "$log" | show_progress
  [ "${PIPESTATUS[0]}" -eq 0 ] && return
  [ -t 2 ] && say ''
  # Ninja prints the failure below a line "FAILED: ..."; the progress lines in between would only hide it.
  grep -v '^\[[0-9]*/[0-9]*\] ' "$log" | head -n 80 >&2
  say "(the whole output is in ${log#"$top"/})"
  return 1
}

# set_up TARGET: packages, configuration and build of the target.
set_up() {
  install_packages
  if [ ! -f "$top/build/release/build.ninja" ]; then
    say "configuring build/release"
    (cd "$top" && quietly configure cmake --preset release) || fail "cmake could not configure the project"
  fi
  build_and_log "$1" || fail "the build failed"
}
