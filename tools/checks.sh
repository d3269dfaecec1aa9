#!/usr/bin/env bash
# Checks that take longer than a test run: AddressSanitizer and UndefinedBehaviorSanitizer on core, the network models and
# the readers of traces (`sanitizers`), and on the corpora of every reader of a user's file (`corpora`);
# clang-tidy on core. CI runs all three. ./tools/checks.sh [sanitizers | corpora | clang-tidy]
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# sanitize TEST...: builds and runs these with sanitizers.
sanitize() {
  local target sanitized=("$@")
  cd "$top" && quietly configure-sanitize cmake --preset sanitize || fail "cmake could not configure the preset sanitize"
  preset=sanitize
  build_and_log "${sanitized[@]}" || fail "the build with sanitizers failed"
  for target in "${sanitized[@]}"; do
    say "sanitizers: $target"
    quietly "sanitize-$target" "$top/build/sanitize/tests/$target" --gtest_brief=1 || fail "$target found an error"
  done
}

sanitizers() {
  sanitize core_base_test core_config_test core_engine_test core_fabric_test core_plan_test core_record_test \
    core_report_test core_run_test core_symmetry_test network_models_test traces_test
}

clang_tidy() {
  packages+=(clang-tidy)
  install_packages
  cd "$top" && quietly configure-tidy cmake --preset tidy -DRINGWRIGHT_JOINED_SOURCES=ON ||
    fail "cmake could not configure the preset tidy"
  say "clang-tidy: core"
  # Forty sources at a time: a quarter of the time, since headers are read once.
  quietly clang-tidy run-clang-tidy -quiet -p "$top/build/tidy" -j "$(build_jobs)" \
    -checks=-bugprone-suspicious-include "^$top/build/tidy/CMakeFiles/core_.*\\.cxx\$" ||
    fail "clang-tidy has findings in core"
}

install_packages
case ${1:-all} in
  sanitizers) sanitizers ;;
  clang-tidy) clang_tidy ;;
  corpora) sanitize fuzz_test ;;
  all) sanitizers && sanitize fuzz_test && clang_tidy ;;
  *) fail "usage: tools/checks.sh [sanitizers | corpora | clang-tidy]" ;;
esac
