#include "workload/options/layer_layout.h"

#include <algorithm>
#include <limits>
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

namespace {

// The layers of a part.
struct PartCosts {
  const LayerCosts* costs = nullptr;
  const std::vector<double>* before = nullptr;  // of the first layers: sums of costs
};

std::vector<double> sums_before(const LayerCosts& costs) {
  std::vector<double> sums(costs.layers.size() + 1, 0.0);
  for (std::size_t i = 0; i < costs.layers.size(); ++i) sums[i + 1] = sums[i] + costs.layers[i];
  return sums;
}

std::optional<std::vector<std::int64_t>> balance_parts(std::span<const PartCosts> costs,
                                                       std::span<const std::int64_t> most) {
  const std::size_t parts = costs.size();
  const std::size_t count = costs.front().costs->layers.size();
  const auto room = [&](std::size_t part) { return most.empty() ? count : static_cast<std::size_t>(most[part]); };
  // The best assignment of the first `end` layers to chunks 0 .. part: the least maximum, then the least sum of
  // squares.
  using Score = std::pair<double, double>;
  const Score never{std::numeric_limits<double>::infinity(), 0.0};
  std::vector<Score> best(count + 1, never);
  best[0] = {0.0, 0.0};
  std::vector<std::vector<std::size_t>> cut(parts, std::vector<std::size_t>(count + 1, 0));
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<Score> next(count + 1, never);
    const std::vector<double>& before = *costs[part].before;
    const double first = part == 0 ? costs[part].costs->first : 0.0;
    const double last = part == parts - 1 ? costs[part].costs->last : 0.0;
    for (std::size_t end = 0; end <= count; ++end) {
      // A part costs more the earlier it begins: none is better that costs more by itself. Of equal ones the earliest.
      const std::size_t earliest = end - std::min(end, room(part));
      for (std::size_t begin = end + 1; begin-- > earliest;) {
        const double mine = before[end] - before[begin] + first + last;
        if (mine > next[end].first) break;
        const Score score{std::max(best[begin].first, mine), best[begin].second + mine * mine};
        if (next[end] < score || !(score < never)) continue;
        next[end] = score;
        cut[part][end] = begin;
      }
    }
    best = std::move(next);
  }
  if (!(best[count] < never)) return std::nullopt;
  std::vector<std::int64_t> layers(parts);
  for (std::size_t part = layers.size(), end = count; part-- > 0;) {
    const std::size_t begin = cut[part][end];
    layers[part] = static_cast<std::int64_t>(end - begin);
    end = begin;
  }
  return layers;
}

}  // namespace

std::vector<std::int64_t> balance_layers(const LayerCosts& costs, int parts) {
  const std::vector<double> before = sums_before(costs);
  const std::vector<PartCosts> same(static_cast<std::size_t>(parts), {.costs = &costs, .before = &before});
  return *balance_parts(same, {});
}

std::optional<std::vector<std::int64_t>> balance_layers_on(std::span<const LayerCosts> costs,
                                                           std::span<const std::int64_t> most) {
  std::vector<std::vector<double>> before;
  for (const LayerCosts& own : costs) before.push_back(sums_before(own));
  std::vector<PartCosts> parts;
  for (std::size_t part = 0; part < costs.size(); ++part) {
    parts.push_back({.costs = &costs[part], .before = &before[part]});
  }
  return balance_parts(parts, most);
}

}  // namespace ringwright::workload
