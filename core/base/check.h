// CHECK: an internal invariant is broken; the run stops with file, line and message, in release builds too.
#pragma once

#include <string_view>

namespace ringwright {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, std::string_view message);

}  // namespace ringwright

#define CHECK(condition, message)                                                       \
  do {                                                                                  \
    if (!(condition)) ::ringwright::check_failed(__FILE__, __LINE__, #condition, message); \
  } while (false)

// For inner loops only: compiled out in release builds.
#ifdef NDEBUG
#define DCHECK(condition, message)                                      \
  do {                                                                  \
    if (false && (condition)) static_cast<void>(message); /* compiled, never run */ \
  } while (false)
#else
#define DCHECK(condition, message) CHECK(condition, message)
#endif
