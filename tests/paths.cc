#include "tests/paths.h"

namespace ringwright {

std::string test_data() { return RINGWRIGHT_TEST_DATA; }
std::string share_dir() { return RINGWRIGHT_SHARE_DIR; }

}  // namespace ringwright
