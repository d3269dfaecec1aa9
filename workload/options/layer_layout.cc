#include "workload/options/layer_layout.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

constexpr std::size_t kMostLetters = 100'000;

class LayoutReader {
 public:
  explicit LayoutReader(std::string_view text) : text_(text) {}

  LayerLayout read() {
    const std::string letters = sequence(0);
    if (problem_.empty() && at_ < text_.size()) refuse("a ')' without '('");
    if (problem_.empty()) count(letters);
    return {.problem = std::move(problem_), .at = at_, .layers = std::move(layers_)};
  }

 private:
  void refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  // Letters and bars up to the end, or to the ')' that closes the group.
  std::string sequence(int depth) {
    std::string letters;
    while (at_ < text_.size() && problem_.empty()) {
      const char c = text_[at_];
      std::string section;
      if (c == ')') return letters;
      if (c == '(' && depth < 8) {
        ++at_;
        section = sequence(depth + 1);
        if (at_ == text_.size()) refuse("a '(' without ')'");
      } else if (std::string_view("EtmL|").find(c) != std::string_view::npos) {
        section = std::string(1, c);
      } else if (c != ',' && c != ' ') {
        refuse(fmt::format("'{}' is not part of a layout; valid: E, t, m, L, '|', '(...)' and '*n'", c));
        return letters;
      }
      ++at_;
      for (std::int64_t n = times(); n > 0 && problem_.empty(); --n) {
        letters += section;
        if (letters.size() > kMostLetters) refuse("too many repetitions");
      }
    }
    return letters;
  }
  // "*3" after a letter or group; 1 when there is none.
  std::int64_t times() {
    if (at_ >= text_.size() || text_[at_] != '*') return 1;
    std::int64_t number = 0;
    for (++at_; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && number < 1'000'000; ++at_) {
      number = 10 * number + (text_[at_] - '0');
    }
    if (number == 0) refuse("'*' needs a number");
    return number;
  }
  void count(const std::string& letters) {
    layers_.assign(1, 0);
    for (const char c : letters) {
      if (c == '|') layers_.push_back(0);
      if (c == 't') ++layers_.back();
    }
    const auto place = [&letters](char c) { return letters.find(c); };
    if (letters.find_first_not_of("|") != place('E') || std::ranges::count(letters, 'E') != 1) {
      refuse("the embedding, E, must be first and occur once");
    } else if (letters.empty() || letters.back() != 'L' || std::ranges::count(letters, 'L') != 1) {
      refuse("the loss, L, must be last and occur once");
    } else if (place('|') < place('E')) {
      refuse("the embedding, E, must be in the first chunk");
    } else if (place('m') != std::string::npos && letters.find('|', place('m')) != std::string::npos) {
      refuse("multi-token prediction, m, in another chunk than the loss is not modelled");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
  std::vector<std::int64_t> layers_;
};

}  // namespace

LayerLayout read_layer_layout(std::string_view text) {
  return LayoutReader(text).read();
}

std::vector<std::int64_t> spread_with_ends(std::int64_t layers, const EndLayers& ends, int stages, int chunks) {
  const int stated = (ends.first > 0 ? 1 : 0) + (ends.last > 0 ? 1 : 0);
  const std::int64_t rest = layers - ends.first - ends.last;
  const std::int64_t others = stages - stated;
  if (rest < 0 || (others == 0 && rest > 0)) return {};
  const std::int64_t each = others == 0 ? 0 : rest / others;
  const bool even =
      (others == 0 || rest % others == 0) && each % chunks == 0 && ends.first % chunks == 0 && ends.last % chunks == 0;
  if (!even) return {};
  std::vector<std::int64_t> parts(static_cast<std::size_t>(stages) * static_cast<std::size_t>(chunks), each / chunks);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto stage = static_cast<int>(part) % stages;
    if (stage == 0 && ends.first > 0) parts[part] = ends.first / chunks;
    if (stage == stages - 1 && ends.last > 0) parts[part] = ends.last / chunks;
  }
  return parts;
}

}  // namespace ringwright::workload
