// libFuzzer's door to the configuration loader; the seeds lie in config_corpus and in tests/core/config/broken.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/config_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Copied, so that the sanitizer sees every byte read past the end.
  const std::string input(data, data + size);
  ringwright::fuzz::load_and_read(input);
  return 0;
}
