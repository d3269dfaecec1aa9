// Butterflies: in every stage each member exchanges with one partner, and after the last everyone has heard of
// everyone.
//
// recursive_doubling: partners at distance n/2, n/4, ..., 1 halve what they scatter; gathering goes back, 1, 2, ...,
// n/2, with S/n, 2 S/n, ...: log2 n a + (n-1)/n S/B (Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 2005; MPI's recursive halving and doubling). All-reduce swaps whole
// buffers, near partners first, log2 n (a + S/B), members beyond a power of two folded in first and served last. bine:
// partners at distances 1, -1, 3, -5, 11, ..., (1 - (-2)^i)/3 of opposite sign for odd members, so that messages travel
// a third less far than those of powers of two; bine_doubling swaps whole buffers, bine halves and doubles. Powers of
// two only. (De Sensi et al., "Bine trees: enhancing collective operations by optimizing communication locality", SC
// 2025.)
#include <algorithm>

#include "collectives/cut.h"
#include "collectives/power_core.h"
#include "collectives/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

const CollectiveAlgorithm& recursive_doubling();
const CollectiveAlgorithm& bine();
const CollectiveAlgorithm& bine_doubling();

namespace {

// Whom a member meets in a stage. Stages are numbered as reduce-scatter takes them.
class Meetings {
 public:
  enum class Pattern { kFarthestFirst, kNearestFirst, kBine };
  Meetings(Pattern pattern, int members) : pattern_(pattern), members_(members), stages_(PowerCore(members).levels) {}

  [[nodiscard]] int stages() const { return stages_; }
  [[nodiscard]] int partner(int member, int stage) const {
    switch (pattern_) {
      case Pattern::kFarthestFirst: return member ^ (1 << (stages_ - 1 - stage));
      case Pattern::kNearestFirst: return member ^ (1 << stage);
      case Pattern::kBine: break;
    }
    const int power = 2 << stage;
    const int distance = (1 + (stage % 2 == 0 ? power : -power)) / 3;
    return wrap(member % 2 == 0 ? member + distance : member - distance, members_);
  }
  // Replaces `out` by the members whose data `member` still passes on or scatters to after a stage: itself and whom it
  // meets later, and whom these meet.
  void beyond(int member, int stage, std::vector<int>& out) const {
    out.assign(1, member);
    for (int later = stage + 1; later < stages_; ++later) {
      const std::size_t known = out.size();
      for (std::size_t i = 0; i < known; ++i) out.push_back(partner(out[i], later));
    }
  }

 private:
  Pattern pattern_;
  int members_;
  int stages_;
};

bool is_power_of_two(const CollectiveCall& call) {
  return PowerCore(call.size()).excess == 0;
}

// Halving scatters sums; doubling gathers.
enum class Half { kScatter, kGather };

struct Stage {
  Half half = Half::kScatter;
  int number = 0;
};

// Halving, doubling, or one after the other.
class HalvingButterfly {
 public:
  HalvingButterfly(Meetings::Pattern pattern, const CollectiveCall& call)
      : meetings_(pattern, call.size()), call_(call) {}

  [[nodiscard]] int steps() const {
    return call_.kind == CollectiveKind::kAllReduce ? 2 * meetings_.stages() : meetings_.stages();
  }
  void step(int member, int index, CollectiveStep& out) const {
    const Stage stage = stage_at(index);
    const int partner = meetings_.partner(member, stage.number);
    out.sends.push_back({.peer = partner, .size = size(stage, member)});
    out.awaits.push_back({.peer = partner, .send = 0});
  }
  void contents(int member, int index, SendContents& out) const {
    const Stage stage = stage_at(index);
    meetings_.beyond(keeper(stage, member), stage.number, out.pieces);
    out.reduce = stage.half == Half::kScatter;
  }

 private:
  [[nodiscard]] Stage stage_at(int index) const {
    const int stages = meetings_.stages();
    if (call_.kind == CollectiveKind::kAllGather) return {.half = Half::kGather, .number = stages - 1 - index};
    if (index < stages) return {.half = Half::kScatter, .number = index};
    return {.half = Half::kGather, .number = 2 * stages - 1 - index};
  }
  // Whose pieces travel: scattering, those that the partner answers for; gathering, those that the sender has.
  [[nodiscard]] int keeper(const Stage& stage, int member) const {
    return stage.half == Half::kScatter ? meetings_.partner(member, stage.number) : member;
  }
  [[nodiscard]] Bytes size(const Stage& stage, int member) const {
    const Cut cut(call_.bytes, call_.size());
    if (cut.even()) return cut.size(0) * (std::int64_t{1} << (meetings_.stages() - 1 - stage.number));
    std::vector<int> pieces;
    meetings_.beyond(keeper(stage, member), stage.number, pieces);
    Bytes sum;
    for (const int piece : pieces) sum += cut.size(piece);
    return sum;
  }

  Meetings meetings_;
  const CollectiveCall& call_;
};

class RecursiveDoubling final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "recursive_doubling"; }
  [[nodiscard]] std::string_view help() const override {
    return "partners at distance 1, 2, 4, ...; all-reduce with whole buffers (MPI's recursive doubling and halving)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    if (call.kind == CollectiveKind::kAllReduce) return true;
    return (call.kind == CollectiveKind::kAllGather || call.kind == CollectiveKind::kReduceScatter) &&
           is_power_of_two(call);
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    if (!whole(call)) return halving(call).steps();
    const PowerCore core(call.size());
    return core.levels + (core.excess > 0 ? 2 : 0);
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    if (!whole(call)) return halving(call).step(member, index, out);
    const PowerCore core(call.size());
    const int round = core.excess > 0 ? index - 1 : index;
    if (round < 0 || round == core.levels) {
      if (core.paired(member)) exchange_in_pair(call, member, round < 0 ? FoldStep::kIn : FoldStep::kBack, out);
      return;
    }
    const int number = core.number(member);
    if (number < 0) return;
    const int partner = core.member(Meetings(Meetings::Pattern::kNearestFirst, core.size).partner(number, round));
    out.sends.push_back({.peer = partner, .size = call.bytes});
    out.awaits.push_back({.peer = partner, .send = 0});
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return whole(call) ? 1 : call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, pieces(call)).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    if (!whole(call)) return halving(call).contents(member, index, out);
    const PowerCore core(call.size());
    out.pieces.assign(1, 0);
    out.reduce = core.excess == 0 || index <= core.levels;
  }

 private:
  static bool whole(const CollectiveCall& call) { return call.kind == CollectiveKind::kAllReduce; }
  static HalvingButterfly halving(const CollectiveCall& call) { return {Meetings::Pattern::kFarthestFirst, call}; }
};

class Bine final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "bine"; }
  [[nodiscard]] std::string_view help() const override {
    return "halving and doubling with partners at distance 1, -1, 3, -5, 11, ... (Bine trees)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    const bool known = call.kind == CollectiveKind::kAllReduce || call.kind == CollectiveKind::kAllGather ||
                       call.kind == CollectiveKind::kReduceScatter;
    return known && is_power_of_two(call);
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return halving(call).steps(); }
  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    halving(call).step(member, index, out);
  }
  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, call.size()).size(piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    halving(call).contents(member, index, out);
  }

 private:
  static HalvingButterfly halving(const CollectiveCall& call) { return {Meetings::Pattern::kBine, call}; }
};

class BineDoubling final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "bine_doubling"; }
  [[nodiscard]] std::string_view help() const override {
    return "whole buffers swapped with partners at distance 1, -1, 3, -5, 11, ... (Bine trees): for small messages";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllReduce && is_power_of_two(call);
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return meetings(call).stages(); }
  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const int partner = meetings(call).partner(member, index);
    out.sends.push_back({.peer = partner, .size = call.bytes});
    out.awaits.push_back({.peer = partner, .send = 0});
  }
  [[nodiscard]] int pieces(const CollectiveCall&) const override { return 1; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int) const override { return call.bytes; }
  void contents(const CollectiveCall&, int, int, int, SendContents& out) const override {
    out.pieces.assign(1, 0);
    out.reduce = true;
  }

 private:
  static Meetings meetings(const CollectiveCall& call) { return {Meetings::Pattern::kBine, call.size()}; }
};

}  // namespace

const CollectiveAlgorithm& recursive_doubling() {
  static const RecursiveDoubling algorithm;
  return algorithm;
}

const CollectiveAlgorithm& bine() {
  static const Bine algorithm;
  return algorithm;
}

const CollectiveAlgorithm& bine_doubling() {
  static const BineDoubling algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
