// Where the tests' data and the shipped presets lie: the only place that knows an absolute path, so that test files
// compile to the same thing in every checkout.
#pragma once

#include <string>

namespace ringwright {

[[nodiscard]] std::string test_data();  // tests/
[[nodiscard]] std::string share_dir();  // configs/

}  // namespace ringwright
