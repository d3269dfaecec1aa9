// The network as paced by thread blocks: their data arrive later where kernels take memory bandwidth from them, at
// either end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/rank_classes.h"
#include "core/ports/network_model.h"
#include "core/run/job/copy_block_clocks.h"

namespace ringwright {

// Only transfers between ranks; copies between a rank and its host are made by copy engines.
class PacedNetwork final : public NetworkModel, public TransferListener, public CopyBlockListener {
 public:
  PacedNetwork(NetworkModel& network, const RankClasses& classes, CopyBlockClocks& clocks)
      : network_(network), classes_(classes), clocks_(clocks) {}

  void start(const Transfer& transfer, TransferListener& listener) override;
  void on_arrived(std::uint64_t token) override;
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override;
  void on_caught_up(std::uint64_t token) override;
  // A hash of what lags, and by how much: of transfers between those that the network moves and those that are done.
  [[nodiscard]] std::uint64_t digest() const;

  [[nodiscard]] std::vector<LinkUsage> usage() const override { return network_.usage(); }
  [[nodiscard]] std::vector<Counter> counters() const override { return network_.counters(); }

 private:
  struct End {
    ClassId rank_class;
    FineTime lag;  // at the start
  };
  struct Row {
    TransferListener* listener = nullptr;  // null: a free slot
    std::uint64_t token = 0;
    std::optional<End> sender;    // empty: a switch
    std::optional<End> receiver;
    int awaited = 0;  // ends that have not caught up yet
  };

  [[nodiscard]] End end_at(RankId rank) const;
  void wait_for(const std::optional<End>& end, std::uint64_t slot);
  [[nodiscard]] std::uint64_t digest_of(const std::optional<End>& end) const;

  NetworkModel& network_;
  const RankClasses& classes_;
  CopyBlockClocks& clocks_;
  std::vector<Row> rows_;  // slots, reused
  std::vector<std::uint64_t> free_;
};

}  // namespace ringwright
