// What a random scenario draws from, what later choices depend on, and the machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"

namespace ringwright::configs {

class Draw {
 public:
  explicit Draw(std::uint64_t seed, std::string_view stream = "scenario") : stream_(seed, stream) {}

  [[nodiscard]] bool one_in(std::uint64_t of) { return stream_.next_below(of) == 0; }
  [[nodiscard]] int between(int least, int most) {
    return least + static_cast<int>(stream_.next_below(static_cast<std::uint64_t>(most - least + 1)));
  }
  // Repeat a word to draw it more often.
  [[nodiscard]] std::string_view word(std::initializer_list<std::string_view> words) {
    return *(words.begin() + stream_.next_below(words.size()));
  }
  [[nodiscard]] int number(std::initializer_list<int> numbers) {
    return *(numbers.begin() + stream_.next_below(numbers.size()));
  }
  // A divisor of `of` up to `most`.
  [[nodiscard]] int divisor(int of, int most) {
    std::vector<int> divisors;
    for (int d = 1; d <= std::min(of, most); ++d) {
      if (of % d == 0) divisors.push_back(d);
    }
    return divisors[stream_.next_below(divisors.size())];
  }

 private:
  RandomStream stream_;
};

// Values that later choices depend on.
struct Drawn {
  int nodes = 1;
  int gpus = 1;  // of a node
  int nics = 1;
  bool old_gpu = false;  // knows no bf16
  bool drives = false;
  std::string fabric;
  std::string rung = "steps";
  std::string network = "flow";
  bool experts = false;
  int pp = 1;
  int dp = 1;
  int layers = 8;
  bool sharded = false;  // ZeRO 2 and 3, FSDP
  bool mixed = false;    // groups of different nodes
  [[nodiscard]] int world() const { return nodes * gpus; }
};

// The first place only; nothing where there is none.
void replace_in(std::string& text, std::string_view from, std::string_view to);

// `cluster`. Up to 64 GPUs, few of them on a graph's nodes or a torus.
[[nodiscard]] std::string random_cluster(std::uint64_t seed, Draw& draw, Drawn& drawn);

}  // namespace ringwright::configs
