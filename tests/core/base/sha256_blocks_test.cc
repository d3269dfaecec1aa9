#include "core/base/sha256_blocks.h"

#include <string>

#include <gtest/gtest.h>

namespace ringwright::sha256_blocks_test {
namespace {

// What sha256() uses is tested by the published vectors; here, that both ways are one function.
TEST(Sha256Blocks, AreTheSameByInstructions) {
  if (!has_sha_instructions()) GTEST_SKIP() << "this processor has no instructions for SHA-256";
  std::string blocks;
  for (std::uint32_t byte = 0; byte < 7 * 64; ++byte) blocks += static_cast<char>(byte * 131 + byte / 7);
  for (std::size_t count : {std::size_t{0}, std::size_t{64}, blocks.size()}) {
    Sha256State portable = {1, 2, 3, 4, 5, 0x80000006, 7, 0xffffffff}, fast = portable;
    absorb_portably(portable, std::string_view(blocks).substr(0, count));
    absorb_by_instructions(fast, std::string_view(blocks).substr(0, count));
    EXPECT_EQ(portable, fast) << count;
  }
}

// One block of "abc" and its padding, from the initial state: the digest of FIPS 180-4's first example.
TEST(Sha256Blocks, MatchThePublishedExample) {
  std::string block = "abc\x80";
  block.resize(64);
  block[63] = 24;  // bits
  Sha256State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  absorb_portably(state, block);
  const Sha256State digest = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                              0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
  EXPECT_EQ(state, digest);
}

}  // namespace
}  // namespace ringwright::sha256_blocks_test
