// Runs the thread blocks of all members over symbolic memory, in one order and in the opposite one.
#include "collectives/proof/channel_proof.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "collectives/proof/contribution_sets.h"
#include "collectives/proof/first_holders.h"
#include "collectives/proof/proof_blocks.h"
#include "collectives/proof/proof_order.h"
#include "collectives/proof/proof_sums.h"
#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

class ChannelProver {
 public:
  ChannelProver(const ChannelAlgorithm& algorithm, const CollectiveCall& call, const CollectivePlan& plan)
      : algorithm_(algorithm),
        call_(call),
        plan_(plan),
        members_(call.size()),
        pieces_(algorithm.pieces(call, plan)),
        cells_(algorithm.cells(call, plan)),
        memory_(at(members_) * at(cells_), call.size()),
        blocks_({.members = members_, .blocks = algorithm.blocks(call, plan)}) {
    proof_.sent.resize(at(members_));
    proof_.received.resize(at(members_));
  }

  ChannelProof run(ProofOrder order) {
    if (!check_pieces() || !make_blocks()) return proof_;
    fill_memory();
    run_blocks(order);
    if (proof_.holds() && check_ends()) check_memory();
    return proof_;
  }

 private:
  bool fail(std::string what) {
    if (proof_.violation.empty()) proof_.violation = std::move(what);
    return false;
  }
  [[nodiscard]] std::size_t cell(int member, int number) const { return at(member) * at(cells_) + at(number); }
  [[nodiscard]] bool is_exchange() const { return call_.kind == CollectiveKind::kAllToAll; }
  [[nodiscard]] int owner(int piece) const {
    return piece / (pieces_ / members_);
  }

  bool check_pieces() {
    const bool per_member = is_exchange() || call_.kind == CollectiveKind::kAllGather ||
                            call_.kind == CollectiveKind::kReduceScatter;
    if (pieces_ < 1 || (per_member && pieces_ % members_ != 0) ||
        (is_exchange() && pieces_ % (members_ * members_) != 0)) {
      return fail(fmt::format("{} members cannot have {} pieces", members_, pieces_));
    }
    const int buffers = is_exchange() ? members_ : 1;
    for (int buffer = 0; buffer < buffers; ++buffer) {
      Bytes total;
      for (int p = 0; p < pieces_ / buffers; ++p) {
        total += algorithm_.piece_size(call_, plan_, buffer * (pieces_ / buffers) + p);
      }
      if (total != call_.bytes) {
        return fail(fmt::format("the pieces add up to {} bytes, not {}", total.count(), call_.bytes.count()));
      }
    }
    return true;
  }

  bool make_blocks() {
    const std::string wrong = blocks_.make(algorithm_, call_, plan_, sums_);
    if (!wrong.empty()) return fail(wrong);
    const std::string apart = blocks_.join();
    return apart.empty() || fail(apart);
  }

  void fill_memory() {
    for (int piece = 0; piece < pieces_; ++piece) {
      for (int member = 0; member < members_; ++member) {
        if (starts_with(call_, member, piece, pieces_))
          memory_.insert(cell(member, algorithm_.input_cell(call_, plan_, piece)), member);
      }
    }
  }
  // Ascending: one primitive of each block in turn. Descending: each block as far as possible, the last first.
  void run_blocks(ProofOrder order) {
    bool moved = true;
    while (moved && proof_.holds()) {
      moved = false;
      for (std::size_t i = 0; i < blocks_.all().size(); ++i) {
        const std::size_t which = order == ProofOrder::kAscending ? i : blocks_.all().size() - 1 - i;
        const auto [member, block] = blocks_.place(which);
        while (proof_.holds() && advance(member, block)) {
          moved = true;
          if (order == ProofOrder::kAscending) break;
        }
      }
    }
  }

  bool advance(int member, int block) {
    ProofBlock& self = blocks_[{.member = member, .block = block}];
    if (self.done == self.block.primitives) return false;
    algorithm_.primitive(call_, plan_, member, block, self.done, doing_);
    if (!ports_exist(self.block)) return fail(fmt::format("block {} of member {} has no such port", block, member));
    for (const PrimitiveDependency& after : doing_.after) {
      if (after.block >= 0 && blocks_[{.member = member, .block = after.block}].done <= after.primitive) return false;
    }
    for (int r = doing_.receives.first; r < doing_.receives.first + doing_.receives.count; ++r) {
      if (!readable(blocks_.queue_of(self.block.receives[at(r)]))) return false;
    }
    for (int s = doing_.sends.first; s < doing_.sends.first + doing_.sends.count; ++s) {
      if (self.queues[at(s)].messages.size() == self.queues[at(s)].room) return false;
    }
    return work(member, block);
  }
  [[nodiscard]] bool ports_exist(const ThreadBlock& block) const {
    const auto fits = [](const PortRange& range, std::size_t ports) {
      return range.first >= 0 && range.count >= 0 && at(range.first + range.count) <= ports;
    };
    return fits(doing_.receives, block.receives.size()) && fits(doing_.sends, block.sends.size());
  }
  // A network sum can be read when all have contributed.
  [[nodiscard]] bool readable(const ProofQueue& queue) {
    if (queue.messages.empty()) return false;
    if (queue.sum == kNoSum) return true;
    return sums_.is_whole({.sum = queue.sum, .index = queue.read});
  }
  bool work(int member, int block) {
    ProofBlock& self = blocks_[{.member = member, .block = block}];
    algorithm_.contents(call_, plan_, member, block, self.done, contents_);
    ProofMessage message{.size = doing_.size, .cells = contents_.reads.size(), .sets = {}};
    bool any = false;
    for (int r = doing_.receives.first; r < doing_.receives.first + doing_.receives.count; ++r) {
      const ReceivePort& port = self.block.receives[at(r)];
      ProofQueue& queue = blocks_.queue_of(port);
      if (!take(member, next_of(queue), any, message)) return false;
      const bool once = port.route_kind == RouteKind::kDownFromSwitch && r > doing_.receives.first;
      if (!once) proof_.received[at(member)] += doing_.size * self.block.copies;
      drop_next_of(queue);
      any = true;
    }
    if (doing_.reads && !add_own(member, any, message)) return false;
    if (doing_.stores && !store(member, message)) return false;
    if (!check_size(member, self.block.copies, message)) return false;
    for (int s = doing_.sends.first; s < doing_.sends.first + doing_.sends.count; ++s) {
      const bool once = self.block.sends[at(s)].route_kind == RouteKind::kUpToSwitch && s > doing_.sends.first;
      if (!once) proof_.sent[at(member)] += doing_.size * self.block.copies;
      if (!contribute(member, message, self.queues[at(s)])) return false;
      self.queues[at(s)].messages.push_back(message);
      ++proof_.messages;
    }
    ++self.done;
    return true;
  }

  const ProofMessage& next_of(const ProofQueue& queue) {
    if (queue.sum == kNoSum) return queue.messages.front();
    return sums_.result({.sum = queue.sum, .index = queue.read});
  }
  void drop_next_of(ProofQueue& queue) {
    queue.messages.pop_front();
    if (queue.sum != kNoSum) sums_.take({.sum = queue.sum, .index = queue.read++});
  }
  bool contribute(int member, const ProofMessage& message, ProofQueue& queue) {
    if (queue.sum == kNoSum) return true;
    const std::string wrong = sums_.contribute({.sum = queue.sum, .index = queue.written++}, message);
    return wrong.empty() || fail(fmt::format("member {} {}", member, wrong));
  }

  bool take(int member, const ProofMessage& next, bool any, ProofMessage& sum) {
    if (next.size != doing_.size) {
      return fail(fmt::format("member {} expects a message of {} bytes and gets {}", member, doing_.size.count(),
                              next.size.count()));
    }
    if (!any) {
      sum.cells = next.cells;
      sum.sets = next.sets;
      return true;
    }
    if (next.cells != sum.cells) return fail(fmt::format("member {} adds messages of unequal contents", member));
    return merge(member, next.sets, sum);
  }
  bool merge(int member, const std::vector<std::uint64_t>& more, ProofMessage& sum) {
    return sum.merge(more) || fail(fmt::format("member {} adds a contribution twice", member));
  }
  bool add_own(int member, bool any, ProofMessage& sum) {
    std::vector<std::uint64_t> own;
    for (const int number : contents_.reads) {
      if (number < 0 || number >= cells_ || memory_.empty(cell(member, number))) {
        return fail(fmt::format("member {} reads cell {}, which holds nothing", member, number));
      }
      const ContributionSets::Words words = memory_.at(cell(member, number));
      own.insert(own.end(), words.begin(), words.end());
    }
    if (any && contents_.reads.size() != sum.cells) {
      return fail(fmt::format("member {} adds {} cells to {}", member, contents_.reads.size(), sum.cells));
    }
    if (any) return merge(member, own, sum);
    sum.sets = std::move(own);
    return true;
  }
  bool store(int member, const ProofMessage& message) {
    if (contents_.stores.size() != message.cells) {
      return fail(fmt::format("member {} stores {} cells in {}", member, message.cells, contents_.stores.size()));
    }
    const std::size_t words = memory_.words_per_cell();
    for (std::size_t i = 0; i < message.cells; ++i) {
      memory_.replace(cell(member, contents_.stores[i]),
                      ContributionSets::Words(message.sets).subspan(i * words, words));
    }
    return true;
  }
  bool check_size(int member, int copies, const ProofMessage& message) {
    const std::vector<int>& cells = contents_.reads.empty() ? contents_.stores : contents_.reads;
    if (cells.empty()) return true;
    Bytes data;
    for (const int number : cells) data += algorithm_.cell_size(call_, plan_, number);
    if (data > message.size * copies) {
      return fail(fmt::format("member {} packs {} bytes into {}", member, data.count(), message.size.count() * copies));
    }
    proof_.padding += message.size * copies - data;
    return true;
  }

  bool check_ends() {
    for (std::size_t i = 0; i < blocks_.all().size(); ++i) {
      const ProofBlock& self = blocks_.all()[i];
      const auto [member, block] = blocks_.place(i);
      if (self.done < self.block.primitives) {
        return fail(fmt::format("deadlock: block {} of member {} is stuck at primitive {} of {}", block, member,
                                self.done, self.block.primitives));
      }
      for (const ProofQueue& queue : self.queues) {
        if (!queue.messages.empty()) return fail(fmt::format("messages of member {} are never read", member));
      }
    }
    return true;
  }
  void check_memory() {
    for (int member = 0; member < members_; ++member) {
      for (int piece = 0; piece < pieces_; ++piece) {
        const std::size_t here = cell(member, algorithm_.output_cell(call_, plan_, piece));
        if (ends_right(member, piece, here)) continue;
        fail(fmt::format("in the end piece {} of member {} holds {}", piece, member, memory_.text(here)));
        return;
      }
    }
  }
  [[nodiscard]] bool ends_right(int member, int piece, std::size_t here) const {
    switch (call_.kind) {
      case CollectiveKind::kAllReduce: return memory_.full(here);
      case CollectiveKind::kReduceScatter: return owner(piece) != member || memory_.full(here);
      case CollectiveKind::kReduce: return member != call_.root || memory_.full(here);
      case CollectiveKind::kAllGather: return memory_.is_only(here, owner(piece));
      case CollectiveKind::kAllToAll:
        return piece / (pieces_ / members_ / members_) % members_ != member || memory_.is_only(here, owner(piece));
      case CollectiveKind::kBroadcast: return memory_.is_only(here, call_.root);
    }
    return false;
  }

  const ChannelAlgorithm& algorithm_;
  const CollectiveCall& call_;
  const CollectivePlan& plan_;
  int members_;
  int pieces_;
  int cells_;
  ContributionSets memory_;  // by member, by cell
  ProofBlocks blocks_;
  ProofSums sums_;
  Primitive doing_;
  PrimitiveContents contents_;
  ChannelProof proof_;
};

}  // namespace

ChannelProof prove(const ChannelAlgorithm& algorithm, const CollectiveCall& call, const CollectivePlan& plan) {
  ChannelProof proof = ChannelProver(algorithm, call, plan).run(ProofOrder::kAscending);
  if (!proof.holds()) return proof;
  return ChannelProver(algorithm, call, plan).run(ProofOrder::kDescending);
}

std::string describe(const ChannelAlgorithm& algorithm, const CollectiveCall& call, const CollectivePlan& plan) {
  return fmt::format("{} of {}, {} bytes, {} ranks on {} hosts, {}, {} channels", algorithm.name(),
                     to_string(call.kind), call.bytes.count(), call.size(), call.layout->host_count(),
                     to_string(plan.protocol), plan.channels);
}

}  // namespace ringwright::collectives
