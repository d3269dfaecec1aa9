// libFuzzer's entry point for one reader; the build names it (RINGWRIGHT_FUZZ_READER).
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "tests/fuzz/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ringwright::fuzz::Reader* const reader = ringwright::fuzz::find_reader(RINGWRIGHT_FUZZ_READER);
  CHECK(reader != nullptr, "the build names a reader of the table");
  // Copied, so that the sanitizer sees every byte read past the end.
  const std::string input(data, data + size);
  reader->read(input);
  return 0;
}
