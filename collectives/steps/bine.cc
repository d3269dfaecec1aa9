// Bine: butterflies with partners at distances 1, -1, 3, -5, 11, ..., (1 - (-2)^i)/3, of opposite sign for odd members.
//
// Messages travel a third less far than with powers of two. bine halves and doubles, bine_doubling swaps whole buffers;
// times are those of recursive doubling. Powers of two only. (De Sensi et al., "Bine trees: enhancing collective
// operations by optimizing communication locality", SC 2025.)
#include "collectives/steps/butterfly.h"

namespace ringwright::collectives {

const CollectiveAlgorithm& bine();
const CollectiveAlgorithm& bine_doubling();

namespace {

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
  static HalvingButterfly halving(const CollectiveCall& call) { return {Pairings::Pattern::kBine, call}; }
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
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return pairings(call).stages(); }
  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const int partner = pairings(call).partner(member, index);
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
  static Pairings pairings(const CollectiveCall& call) { return {Pairings::Pattern::kBine, call.size()}; }
};

}  // namespace

const CollectiveAlgorithm& bine() {
  static const Bine algorithm;
  return algorithm;
}

const CollectiveAlgorithm& bine_doubling() {
  static const BineDoubling algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
