// The user's NCCL environment variables; the defaults are those of a machine without such variables.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "collectives/nccl/tables/vocabulary.h"
#include "core/base/units.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

enum class Allowed : std::uint8_t { kNo, kYes, kByRule };

struct NcclKnobs {
  // NCCL_ALGO, NCCL_PROTO. LL128 is used by rule unless it is named.
  std::array<std::array<bool, kNcclAlgorithms.size()>, kNcclKinds> algorithms{};
  std::array<std::array<Allowed, kAllProtocols.size()>, kNcclKinds> protocols{};

  std::optional<int> min_channels;  // NCCL_MIN_NCHANNELS
  std::optional<int> max_channels;  // NCCL_MAX_NCHANNELS
  std::optional<int> min_blocks;    // NCCL_MIN_CTAS: as these two, of in-switch reduction too
  std::optional<int> max_blocks;    // NCCL_MAX_CTAS
  std::optional<int> nvls_channels;
  int min_p2p_channels = 1;
  int max_p2p_channels = kNoLimit;

  std::optional<int> threads;                                                         // NCCL_NTHREADS
  std::optional<int> ll128_threads;                                                   // NCCL_LL128_NTHREADS
  std::array<std::array<std::int64_t, kAllProtocols.size()>, 2> thread_thresholds{};  // tree, ring; 0: as NCCL has it

  bool nvls = true;            // NCCL_NVLS_ENABLE
  bool collnet = false;        // NCCL_COLLNET_ENABLE
  int collnet_from_hosts = 2;  // NCCL_COLLNET_NODE_THRESHOLD
  Allowed pat = Allowed::kByRule;
  bool ll128_over_c2c = true;
  bool peer_to_peer = true;  // NCCL_P2P_DISABLE, NCCL_P2P_LEVEL=LOC
  bool gpudirect = true;     // NCCL_NET_GDR_LEVEL=LOC
  std::optional<bool> pxn;   // NCCL_PXN_DISABLE; empty: as the version has it
  bool merge_ports = true;   // NCCL_IB_MERGE_NICS, NCCL_NET_MERGE_LEVEL
  bool p2p_pxn = true;       // NCCL_P2P_PXN_LEVEL: 2 of 0 to 2
  int cross_nic = 2;         // NCCL_CROSS_NIC: 0 never by another NIC than it entered, 1 always if better, 2 in pairs
  std::optional<double> net_overhead_us;

  // Buffers and chunks; empty: NCCL's defaults.
  std::array<std::optional<Bytes>, kAllProtocols.size()> buffer;
  std::optional<Bytes> nvls_chunk;
  std::optional<Bytes> nvls_tree_chunk;
  Bytes p2p_net_chunk{128 << 10};
  std::optional<Bytes> p2p_pcie_chunk;  // absent: the version's
  std::optional<Bytes> p2p_nvlink_chunk;
  Bytes p2p_ll_up_to{16 << 10};
  bool p2p_net_ll = false;  // NCCL_ALLOC_P2P_NET_LL_BUFFERS: between hosts too

  // NICs retransmit what is not acknowledged within 4.096 us * 2^ib_timeout, up to ib_retries times (InfiniBand
  // Architecture Specification, volume 1, section 9.7.6.1.3). 0: they wait forever.
  int ib_timeout = 20;  // NCCL_IB_TIMEOUT
  int ib_retries = 7;   // NCCL_IB_RETRY_CNT

  // libfabric's provider for Slingshot (fi_cxi(7)); empty: not stated.
  std::optional<bool> cxi_software;     // FI_CXI_RX_MATCH_MODE=software: its own thread matches messages, not the NIC
  std::optional<bool> cxi_gdrcopy;      // FI_HMEM_CUDA_USE_GDRCOPY: the processor copies small messages to the GPU
  std::optional<Bytes> cxi_own_copy;    // FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD: itself up to this size
  std::optional<Bytes> cxi_rendezvous;  // FI_CXI_RDZV_THRESHOLD
  std::optional<Bytes> cxi_least_get;   // FI_CXI_RDZV_GET_MIN

  [[nodiscard]] bool names_cxi() const {
    return cxi_software || cxi_gdrcopy || cxi_own_copy || cxi_rendezvous || cxi_least_get;
  }

  // From the first transmission to giving up; 0: never.
  [[nodiscard]] Duration ib_patience() const {
    constexpr Duration kUnit(4'096'000);  // picoseconds
    return ib_timeout == 0 ? Duration() : kUnit * (std::int64_t{1} << ib_timeout) * (ib_retries + 1);
  }

  // A chunk of Simple: what a connection sends at once, and acknowledges.
  [[nodiscard]] Bytes chunk_in_flight() const {
    constexpr Bytes kBuffer(std::int64_t{4} << 20);
    return Bytes(buffer[index_of(Protocol::kSimple)].value_or(kBuffer).count() / kSlots);
  }

  static constexpr int kNoLimit = 64;

  NcclKnobs() {
    for (auto& kind : algorithms) kind.fill(true);
    for (auto& kind : protocols) kind = {Allowed::kYes, Allowed::kByRule, Allowed::kYes};
  }
};

}  // namespace ringwright::collectives
