// Bruck: all-gather and all-to-all in ceil(log2 n) steps for any number of members.
//
// All-gather: in step k a member sends the min(2^k, n - 2^k) pieces that it holds, starting with its own, to the member
// 2^k back: ceil(log2 n) a + (n-1)/n S/B. All-to-all: in step k all data whose distance has bit k set move 2^k ahead,
// about half of the buffer: ceil(log2 n) (a + S/(2B)). (Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms
// for all-to-all communications in multiport message-passing systems", IEEE TPDS 1997; MPI's "(modified) Bruck".)
#include <algorithm>
#include <bit>
#include <cstdint>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

const CollectiveAlgorithm& bruck();

namespace {

class Bruck final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "bruck"; }
  [[nodiscard]] std::string_view help() const override {
    return "all-gather and all-to-all in log2 n steps, for any number of members (Bruck et al.)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllGather || exchanges(call);
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(call.size() - 1)));
  }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const int n = call.size();
    const int distance = exchanges(call) ? 1 << index : -(1 << index);
    out.sends.push_back({.peer = wrap(member + distance, n), .size = size(call, member, index)});
    out.awaits.push_back({.peer = wrap(member - distance, n), .send = 0});
  }

  [[nodiscard]] int pieces(const CollectiveCall& call) const override {
    return exchanges(call) ? call.size() * call.size() : call.size();
  }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return Cut(call.bytes, call.size()).size(piece % call.size());
  }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    out.pieces.clear();
    out.reduce = false;
    for_each_piece(call, member, index, [&](int piece) { out.pieces.push_back(piece); });
  }

  [[nodiscard]] bool rotation_symmetric(const CollectiveCall& call) const override {
    return Cut(call.bytes, call.size()).even();
  }

 private:
  static bool exchanges(const CollectiveCall& call) { return call.kind == CollectiveKind::kAllToAll; }

  template <class Visit>
  static void for_each_piece(const CollectiveCall& call, int member, int index, Visit&& visit) {
    const int n = call.size();
    const int step = 1 << index;
    if (!exchanges(call)) {
      for (int i = 0; i < std::min(step, n - step); ++i) visit(wrap(member + i, n));
      return;
    }
    for (int distance = step; distance < n; ++distance) {
      if ((distance & step) == 0) continue;
      const int from = wrap(member - distance % step, n);  // the lower bits of the distance are done
      visit(from * n + wrap(from + distance, n));
    }
  }
  [[nodiscard]] static Bytes size(const CollectiveCall& call, int member, int index) {
    const Cut cut(call.bytes, call.size());
    std::int64_t count = 0;
    Bytes sum;
    for_each_piece(call, member, index, [&](int piece) {
      ++count;
      if (!cut.even()) sum += cut.size(piece % call.size());
    });
    return cut.even() ? cut.size(0) * count : sum;
  }
};

}  // namespace

const CollectiveAlgorithm& bruck() {
  static const Bruck algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
