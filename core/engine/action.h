// A small callable: captures references and ids, owns nothing, never allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace ringwright {

class Action {
 public:
  static constexpr std::size_t kCapacity = 32;

  Action() = default;
  template <class Callable>
    requires(std::is_trivially_copyable_v<Callable> && sizeof(Callable) <= kCapacity &&
             !std::is_same_v<Callable, Action>)
  Action(Callable callable)  // NOLINT: implicit so that a lambda can be passed as it is
      : call_([](const void* storage) {
          Callable copy = *static_cast<const Callable*>(storage);
          copy();
        }) {
    std::memcpy(storage_.data(), &callable, sizeof(Callable));
  }

  void operator()() const { call_(storage_.data()); }

 private:
  alignas(std::max_align_t) std::array<std::byte, kCapacity> storage_{};
  void (*call_)(const void*) = nullptr;
};

}  // namespace ringwright
