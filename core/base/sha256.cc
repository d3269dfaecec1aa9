#include "core/base/sha256.h"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "core/base/sha256_blocks.h"

namespace ringwright {

std::string sha256(std::string_view data) {
  // Asked once: the question costs a virtual machine a switch to its host.
  static const auto absorb_blocks = has_sha_instructions() ? absorb_by_instructions : absorb_portably;
  // The first 32 bits of the fractional parts of the square roots of the first 8 primes (5.3.3).
  Sha256State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const std::size_t whole = data.size() / kSha256Block * kSha256Block;
  absorb_blocks(state, data.substr(0, whole));
  // Padding: a one bit, zeros, and the length in bits as 64 bits, big end first.
  std::string tail(data.substr(whole));
  tail += '\x80';
  while (tail.size() % kSha256Block != kSha256Block - 8) tail += '\0';
  const std::uint64_t bits = static_cast<std::uint64_t>(data.size()) * 8;
  for (unsigned shift = 64; shift > 0; shift -= 8) tail += static_cast<char>((bits >> (shift - 8)) & 0xFFU);
  absorb_blocks(state, tail);
  std::string text;
  for (const std::uint32_t word : state) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace ringwright
