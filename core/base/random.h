// Named random streams: every random number is a pure function of (seed, stream name, index), so that runs repeat.
#pragma once

#include <cstdint>
#include <string_view>

namespace ringwright {

__extension__ using Uint128 = unsigned __int128;

// The finaliser of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014), applied to
// x + 0x9E3779B97F4A7C15: a good 64-bit mix.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

// Mixes a further number into a hash; order matters.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return splitmix64(hash ^ splitmix64(value));
}

[[nodiscard]] constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a, then mixed
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return splitmix64(hash);
}

class RandomStream {
 public:
  constexpr RandomStream(std::uint64_t seed, std::string_view name) : key_(mix(seed, hash_text(name))) {}

  constexpr std::uint64_t next() { return mix(key_, index_++); }
  // In [0, 1), 53 bits.
  constexpr double next_unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }
  // In [0, bound), bound > 0; the bias of 2^-64 * bound is of no consequence here.
  constexpr std::uint64_t next_below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Uint128>(next()) * bound) >> 64U);
  }

 private:
  std::uint64_t key_;
  std::uint64_t index_ = 0;
};

}  // namespace ringwright
