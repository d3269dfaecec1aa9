// Permuted rings: an all-reduce split over several rings at once, each with a stride of its own.
//
// TopoOpt (Wang et al., NSDI 2023): in ring r member m sends to m + p_r, with p_r coprime with the n members, so that
// the ring visits all of them. Each of R rings carries S / R. Time without sharing: 2 (n-1) (a + S / (R n B)), B being
// the bandwidth of one ring. The strides are the smallest ones, at most four, as those of the topology `patch_panel`.
#include <numeric>
#include <vector>

#include "collectives/shapes/cut.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

constexpr int kMostPermutedRings = 4;

class PermutedRings final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "permuted_rings"; }
  [[nodiscard]] std::string_view help() const override {
    return "up to four rings at once, whose strides are coprime with the members (TopoOpt)";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllReduce;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return 2 * (call.size() - 1); }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const int n = call.size();
    const int rings = rings_of(n);
    for (int ring = 0; ring < rings; ++ring) {
      const int stride = stride_of(n, ring);
      const int piece = ring * n + block_sent(n, member, stride, index);
      out.sends.push_back({.peer = (member + stride) % n, .size = piece_size(call, piece)});
      out.awaits.push_back({.peer = (member + n - stride) % n, .send = ring});
    }
  }

  // The blocks of the first ring, then those of the next.
  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return rings_of(call.size()) * call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    const int n = call.size();
    return Cut(Cut(call.bytes, rings_of(n)).size(piece / n), n).size(piece % n);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    const int n = call.size();
    out.pieces.assign(1, send * n + block_sent(n, member, stride_of(n, send), index));
    out.reduce = index < n - 1;
  }

  [[nodiscard]] int same_until(const CollectiveCall& call, int) const override { return steps(call); }
  [[nodiscard]] bool rotation_symmetric(const CollectiveCall& call) const override {
    const int n = call.size();
    return call.bytes.count() % (std::int64_t{rings_of(n)} * n) == 0;
  }

 private:
  // The first round adds contributions, the second passes on results; a block has the number of the member that has
  // its sum after the first.
  static int block_sent(int n, int member, int stride, int index) {
    const std::int64_t hops = index < n - 1 ? index + 1 : index - (n - 1);
    return static_cast<int>(((member - hops * stride) % n + n) % n);
  }
  static int rings_of(int n) {
    int rings = 0;
    for (int p = 1; p < n && rings < kMostPermutedRings; ++p) rings += std::gcd(p, n) == 1 ? 1 : 0;
    return rings > 0 ? rings : 1;
  }
  static int stride_of(int n, int ring) {
    for (int p = 1; p < n; ++p) {
      if (std::gcd(p, n) == 1 && ring-- == 0) return p;
    }
    return 1;
  }
};

}  // namespace

const CollectiveAlgorithm& permuted_rings() {
  static const PermutedRings algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
