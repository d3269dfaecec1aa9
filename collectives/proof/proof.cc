// Runs a collective step by step on sets of contributions and finds the first violation.
#include "collectives/proof/proof.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "collectives/proof/contribution_sets.h"
#include "collectives/proof/first_holders.h"
#include "collectives/proof/parcels.h"
#include "collectives/proof/piece_holders.h"
#include "collectives/proof/step_knowledge.h"
#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

class Prover {
 public:
  Prover(const CollectiveAlgorithm& algorithm, const CollectiveCall& call)
      : algorithm_(algorithm),
        call_(call),
        members_(call.size()),
        pieces_(algorithm.pieces(call)),
        holders_(call, pieces_),
        knowledge_(members_),
        steps_(at(members_)),
        awaited_(at(members_)) {
    proof_.sent.resize(at(members_));
    proof_.received.resize(at(members_));
  }

  Proof run() {
    if (!check_pieces()) return proof_;
    fill_buffers();
    for (now_ = 0; now_ < algorithm_.steps(call_); ++now_) {
      if (!ask_members() || !check_awaits() || !send_all() || !deliver_all()) return proof_;
      knowledge_.learn(steps_, now_ + 1);
    }
    check_buffers();
    return proof_;
  }

 private:
  bool fail(std::string what) {
    proof_.violation = std::move(what);
    return false;
  }
  [[nodiscard]] bool is_exchange() const { return call_.kind == CollectiveKind::kAllToAll; }
  // The owner of pieces, for kinds in which every member has its own.
  [[nodiscard]] int owner(int piece) const {
    return is_exchange() ? piece / members_ : piece / (pieces_ / members_);
  }

  bool check_pieces() {
    const bool per_member = is_exchange() || call_.kind == CollectiveKind::kAllGather ||
                            call_.kind == CollectiveKind::kReduceScatter;
    if (pieces_ < 1) return fail(fmt::format("there are {} pieces", pieces_));
    if (is_exchange() && pieces_ != members_ * members_) {
      return fail(fmt::format("an all-to-all of {} members has {} pieces", members_, pieces_));
    }
    if (per_member && pieces_ % members_ != 0) {
      return fail(fmt::format("{} pieces cannot be shared evenly by {} members", pieces_, members_));
    }
    const int buffers = is_exchange() ? members_ : 1;
    for (int buffer = 0; buffer < buffers; ++buffer) {
      Bytes total;
      for (int p = 0; p < pieces_ / buffers; ++p) {
        const Bytes size = algorithm_.piece_size(call_, buffer * (pieces_ / buffers) + p);
        if (size < Bytes(0)) return fail(fmt::format("piece {} has {} bytes", p, size.count()));
        total += size;
      }
      if (total != call_.bytes) {
        return fail(fmt::format("the pieces add up to {} bytes, not {}", total.count(), call_.bytes.count()));
      }
    }
    return true;
  }

  void fill_buffers() {
    for (int piece = 0; piece < pieces_; ++piece) {
      for (int member = 0; member < members_; ++member) {
        if (starts_with(call_, member, piece, pieces_)) holders_.sets().insert(holders_.cell(member, piece), member);
      }
    }
  }
  bool ask_members() {
    for (int member = 0; member < members_; ++member) {
      CollectiveStep& step = steps_[at(member)];
      algorithm_.step(call_, member, now_, step);
      for (const CollectiveSend& send : step.sends) {
        if (send.peer >= 0 && send.peer < members_ && send.peer != member) continue;
        return fail(fmt::format("step {}: member {} sends to {}", now_, member, send.peer));
      }
      if (step.await_everyone == steps_.front().await_everyone) continue;
      return fail(fmt::format("step {}: members 0 and {} do not agree on awaiting everyone", now_, member));
    }
    return true;
  }

  bool check_awaits() {
    std::vector<std::vector<char>>& awaited = awaited_;
    for (int m = 0; m < members_; ++m) awaited[at(m)].assign(steps_[at(m)].sends.size(), 0);
    for (int member = 0; member < members_; ++member) {
      for (const CollectiveAwait& await : steps_[at(member)].awaits) {
        const bool exists = await.peer >= 0 && await.peer < members_ && await.send >= 0 &&
                            at(await.send) < awaited[at(await.peer)].size();
        const CollectiveSend* send = exists ? &steps_[at(await.peer)].sends[at(await.send)] : nullptr;
        if (!exists || send->peer != member || send->route_kind != RouteKind::kWhole) {
          return fail(fmt::format("step {}: member {} awaits send {} of member {}, which never arrives", now_, member,
                                  await.send, await.peer));
        }
        if (awaited[at(await.peer)][at(await.send)] != 0) {
          return fail(fmt::format("step {}: member {} awaits send {} of member {} twice", now_, member, await.send,
                                  await.peer));
        }
        awaited[at(await.peer)][at(await.send)] = 1;
      }
    }
    if (steps_.front().await_everyone) return true;
    for (int member = 0; member < members_; ++member) {
      for (std::size_t i = 0; i < awaited[at(member)].size(); ++i) {
        const CollectiveSend& send = steps_[at(member)].sends[i];
        if (awaited[at(member)][i] != 0 || send.route_kind != RouteKind::kWhole) continue;
        return fail(fmt::format("step {}: member {} does not await send {} of member {}", now_, send.peer, i, member));
      }
    }
    return true;
  }

  bool send_all() {
    parcels_.clear();
    for (int member = 0; member < members_; ++member) {
      for (std::size_t i = 0; i < steps_[at(member)].sends.size(); ++i) {
        if (!pack(member, static_cast<int>(i))) return false;
      }
    }
    return true;
  }

  bool pack(int member, int index) {
    const CollectiveSend& send = steps_[at(member)].sends[at(index)];
    algorithm_.contents(call_, member, now_, index, contents_);
    const bool down = send.route_kind == RouteKind::kDownFromSwitch;
    const bool whole = send.route_kind == RouteKind::kWhole;
    const int from = down ? holders_.switch_between(member, send.peer) : member;
    const int to = down ? member : (whole ? send.peer : holders_.switch_between(member, send.peer));
    Bytes total;
    for (const int piece : contents_.pieces) {
      if (piece < 0 || piece >= pieces_) {
        return fail(fmt::format("step {}: send {} of member {} names piece {}", now_, index, member, piece));
      }
      if (holders_.sets().empty(holders_.cell(from, piece)) || (down && !switch_is_ready(from, piece, member))) {
        return fail(fmt::format("step {}: send {} of member {} carries piece {} before it has arrived", now_, index,
                                member, piece));
      }
      total += algorithm_.piece_size(call_, piece);
      parcels_.add({.holder = to, .piece = piece, .from = member, .reduce = contents_.reduce},
                   holders_.sets().at(holders_.cell(from, piece)));
    }
    if (total != send.size) {
      return fail(fmt::format("step {}: send {} of member {} has {} bytes but its pieces have {}", now_, index, member,
                              send.size.count(), total.count()));
    }
    if (!down) proof_.sent[at(member)] += send.size;
    if (down) proof_.received[at(member)] += send.size;
    if (whole) proof_.received[at(send.peer)] += send.size;
    return true;
  }

  // Whether `member` knows that every contribution that the switch holds has arrived there.
  [[nodiscard]] bool switch_is_ready(int holder, int piece, int member) {
    return std::ranges::all_of(holders_.contributors(holder, piece), [&](const PieceHolders::Contributor& c) {
      return knowledge_.steps(member, c.member) > c.step;
    });
  }

  bool deliver_all() {
    for (std::size_t i = 0; i < parcels_.size(); ++i) {
      const std::string wrong = holders_.deliver(parcels_[i], parcels_.contents(i), now_);
      if (!wrong.empty()) return fail(fmt::format("step {}: {}", now_, wrong));
    }
    return true;
  }

  void check_buffers() {
    for (int member = 0; member < members_; ++member) {
      for (int piece = 0; piece < pieces_; ++piece) {
        if (ends_right(member, piece)) continue;
        fail(fmt::format("in the end piece {} of member {} holds {}", piece, member,
                         holders_.sets().text(holders_.cell(member, piece))));
        return;
      }
    }
  }
  [[nodiscard]] bool ends_right(int member, int piece) const {
    const ContributionSets& sets = holders_.sets();
    const std::size_t here = holders_.cell(member, piece);
    switch (call_.kind) {
      case CollectiveKind::kAllReduce: return sets.full(here);
      case CollectiveKind::kReduceScatter: return owner(piece) != member || sets.full(here);
      case CollectiveKind::kReduce: return member != call_.root || sets.full(here);
      case CollectiveKind::kAllGather: return sets.is_only(here, owner(piece));
      case CollectiveKind::kAllToAll: return piece % members_ != member || sets.is_only(here, owner(piece));
      case CollectiveKind::kBroadcast: return sets.is_only(here, call_.root);
    }
    return false;
  }

  const CollectiveAlgorithm& algorithm_;
  const CollectiveCall& call_;
  int members_;
  int pieces_;
  PieceHolders holders_;
  StepKnowledge knowledge_;
  std::vector<CollectiveStep> steps_;
  std::vector<std::vector<char>> awaited_;  // by member, by send: whether its receiver waits for it
  Parcels parcels_;
  SendContents contents_;
  int now_ = 0;
  Proof proof_;
};

}  // namespace

Proof prove(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  return Prover(algorithm, call).run();
}

}  // namespace ringwright::collectives
