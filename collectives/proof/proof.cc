// Runs a collective step by step on sets of contributions and finds the first violation.
#include "collectives/proof/proof.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "collectives/proof/contribution_sets.h"
#include "collectives/proof/first_holders.h"
#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

// A piece in flight: its contributions are in a scratch row, so that all sends of a step leave before any arrives.
struct Parcel {
  int holder = 0;  // its target: a member, or a switch numbered from the group's size on
  int piece = 0;
  int from = 0;  // the member that sent it or requested it from the switch
  bool reduce = false;
};

class Prover {
 public:
  Prover(const CollectiveAlgorithm& algorithm, const CollectiveCall& call)
      : algorithm_(algorithm),
        call_(call),
        members_(call.size()),
        pieces_(algorithm.pieces(call)),
        holders_(call.size() + call.layout->host_count() + 1),
        sets_(at(holders_) * at(std::max(pieces_, 0)), call.size()),
        known_(at(members_) * at(members_), 0),
        steps_(at(members_)),
        awaited_(at(members_)),
        written_(sets_size(), Write{}) {
    proof_.sent.resize(at(members_));
    proof_.received.resize(at(members_));
  }

  Proof run() {
    if (!check_pieces()) return proof_;
    fill_buffers();
    for (now_ = 0; now_ < algorithm_.steps(call_); ++now_) {
      if (!ask_members() || !check_awaits() || !send_all() || !deliver_all()) return proof_;
      learn();
    }
    check_buffers();
    return proof_;
  }

 private:
  struct Write {
    int step = -1;
    bool reduce = false;
  };
  struct Contributor {
    int member = 0;
    int step = 0;
  };

  bool fail(std::string what) {
    proof_.violation = std::move(what);
    return false;
  }
  [[nodiscard]] std::size_t sets_size() const { return at(holders_) * at(std::max(pieces_, 0)); }
  [[nodiscard]] std::size_t cell(int holder, int piece) const { return at(holder) * at(pieces_) + at(piece); }
  [[nodiscard]] int& known(int member, int of) { return known_[at(member) * at(members_) + at(of)]; }
  [[nodiscard]] bool is_exchange() const { return call_.kind == CollectiveKind::kAllToAll; }
  // Ranks of one host share the host's switch; ranks of different hosts share the network's.
  [[nodiscard]] int switch_between(int member, int peer) const {
    const std::vector<int>& host_of = call_.layout->host_of;
    const int host = host_of[at(member)];
    return members_ + (host == host_of[at(peer)] ? host : call_.layout->host_count());
  }
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
        if (starts_with(call_, member, piece, pieces_)) sets_.insert(cell(member, piece), member);
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
    cargo_.clear();
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
    const int from = down ? switch_between(member, send.peer) : member;
    const int to = down ? member : (whole ? send.peer : switch_between(member, send.peer));
    Bytes total;
    for (const int piece : contents_.pieces) {
      if (piece < 0 || piece >= pieces_) {
        return fail(fmt::format("step {}: send {} of member {} names piece {}", now_, index, member, piece));
      }
      if (sets_.empty(cell(from, piece)) || (down && !switch_is_ready(from, piece, member))) {
        return fail(fmt::format("step {}: send {} of member {} carries piece {} before it has arrived", now_, index,
                                member, piece));
      }
      total += algorithm_.piece_size(call_, piece);
      parcels_.push_back({.holder = to, .piece = piece, .from = member, .reduce = contents_.reduce});
      const ContributionSets::Words words = sets_.at(cell(from, piece));
      cargo_.insert(cargo_.end(), words.begin(), words.end());
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
    const auto& contributors = contributors_[cell(holder - members_, piece)];
    return std::ranges::all_of(contributors,
                               [&](const Contributor& c) { return known(member, c.member) > c.step; });
  }

  bool deliver_all() {
    const std::size_t words = sets_.words_per_cell();
    for (std::size_t i = 0; i < parcels_.size(); ++i) {
      const Parcel& parcel = parcels_[i];
      const std::size_t target = cell(parcel.holder, parcel.piece);
      Write& last = written_[target];
      if (last.step == now_ && !(last.reduce && parcel.reduce)) {
        return fail(fmt::format("step {}: the result of piece {} of {} depends on the message order", now_,
                                parcel.piece, name_of(parcel.holder)));
      }
      last = {.step = now_, .reduce = parcel.reduce};
      const ContributionSets::Words cargo = ContributionSets::Words(cargo_).subspan(i * words, words);
      if (!parcel.reduce) sets_.replace(target, cargo);
      if (parcel.reduce && !sets_.add(target, cargo)) {
        return fail(fmt::format("step {}: piece {} of {} holds {} and is given one of them again by member {}", now_,
                                parcel.piece, name_of(parcel.holder), sets_.text(target), parcel.from));
      }
      if (parcel.holder >= members_) remember(parcel);
    }
    return true;
  }
  void remember(const Parcel& parcel) {
    contributors_.resize(at(holders_ - members_) * at(pieces_));
    auto& contributors = contributors_[cell(parcel.holder - members_, parcel.piece)];
    if (!parcel.reduce) contributors.clear();
    contributors.push_back({.member = parcel.from, .step = now_});
  }
  [[nodiscard]] std::string name_of(int holder) const {
    if (holder < members_) return fmt::format("member {}", holder);
    if (holder == holders_ - 1) return "the network's switch";
    return fmt::format("the switch of host {}", holder - members_);
  }

  // A member that awaited another now knows what that one knew, and that its step is complete.
  void learn() {
    if (steps_.front().await_everyone) {
      std::ranges::fill(known_, now_ + 1);
      return;
    }
    known_before_ = known_;
    for (int member = 0; member < members_; ++member) {
      for (const CollectiveAwait& await : steps_[at(member)].awaits) {
        int* const mine = known_.data() + at(member) * at(members_);
        const int* const theirs = known_before_.data() + at(await.peer) * at(members_);
        for (int other = 0; other < members_; ++other) mine[other] = std::max(mine[other], theirs[other]);
      }
      known(member, member) = now_ + 1;
    }
  }

  void check_buffers() {
    for (int member = 0; member < members_; ++member) {
      for (int piece = 0; piece < pieces_; ++piece) {
        if (ends_right(member, piece)) continue;
        fail(fmt::format("in the end piece {} of member {} holds {}", piece, member, sets_.text(cell(member, piece))));
        return;
      }
    }
  }
  [[nodiscard]] bool ends_right(int member, int piece) const {
    const std::size_t here = cell(member, piece);
    switch (call_.kind) {
      case CollectiveKind::kAllReduce: return sets_.full(here);
      case CollectiveKind::kReduceScatter: return owner(piece) != member || sets_.full(here);
      case CollectiveKind::kReduce: return member != call_.root || sets_.full(here);
      case CollectiveKind::kAllGather: return sets_.is_only(here, owner(piece));
      case CollectiveKind::kAllToAll: return piece % members_ != member || sets_.is_only(here, owner(piece));
      case CollectiveKind::kBroadcast: return sets_.is_only(here, call_.root);
    }
    return false;
  }

  const CollectiveAlgorithm& algorithm_;
  const CollectiveCall& call_;
  int members_;
  int pieces_;
  int holders_;
  ContributionSets sets_;     // by holder, by piece
  std::vector<int> known_;    // by member, by other: how many steps of the other are known to be complete
  std::vector<int> known_before_;
  std::vector<CollectiveStep> steps_;
  std::vector<std::vector<char>> awaited_;  // by member, by send: whether its receiver waits for it
  std::vector<Write> written_;                          // by holder, by piece
  std::vector<std::vector<Contributor>> contributors_;  // by switch, by piece; empty until a switch is used
  std::vector<Parcel> parcels_;
  std::vector<std::uint64_t> cargo_;  // by parcel
  SendContents contents_;
  int now_ = 0;
  Proof proof_;
};

}  // namespace

Proof prove(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  return Prover(algorithm, call).run();
}

}  // namespace ringwright::collectives
