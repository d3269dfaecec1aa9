// Hosts that tests choose for, by data sheet.
#pragma once

#include <string>

#include "collectives/nccl/cost/selector.h"
#include "collectives/nccl/topology/hardware.h"
#include "core/base/check.h"
#include "core/config/config_document.h"
#include "core/plan/collective_call.h"
#include "tests/paths.h"

namespace ringwright::collectives {

inline std::vector<int> one_each(int devices, int points) {
  std::vector<int> at;
  for (int device = 0; device < devices; ++device) at.push_back(device * points / devices);
  return at;
}

// GPUs on NVSwitch; PCIe 4.0 x16 is 31.5 GB/s raw, 5.0 twice that.
struct SwitchedHost {
  int compute_capability = 90;
  double nvlink_gb = 450.0;
  double pcie_gb = 63.0;
  int nics = 8;
  double nic_gb = 50.0;
  int switches = 8;
  Processor processor = Processor::kIntel;
  int gpus = 8;
};

inline NcclHost switched_host(const SwitchedHost& what) {
  NcclHost host{.gpus = what.gpus,
                .compute_capability = what.compute_capability,
                .links = NcclHost::Links::kSwitch,
                .nvlink = Bandwidth(what.nvlink_gb * 1e9),
                .multicast = what.compute_capability >= 90,
                .pcie = Bandwidth(what.pcie_gb * 1e9),
                .gpu_slot = Bandwidth(what.pcie_gb * 1e9),
                .pcie_switches = what.switches,
                .sockets = 2,
                .nics = what.nics,
                .nic = Bandwidth(what.nic_gb * 1e9),
                .processor = what.processor};
  host.gpu_at = one_each(what.gpus, what.switches);
  host.nic_at = one_each(what.nics, what.switches);
  return host;
}

inline NcclHost dgx_h100() { return switched_host({}); }
// Two GPUs and two NICs on each of four PCIe switches.
inline NcclHost dgx_a100() {
  return switched_host({.compute_capability = 80, .nvlink_gb = 300.0, .pcie_gb = 31.5, .nic_gb = 25.0, .switches = 4,
                        .processor = Processor::kAmd});
}
inline NcclHost dgx_b200() { return switched_host({.compute_capability = 100, .nvlink_gb = 900.0}); }

// Four GPUs, every pair connected by lanes of 25 GB/s, devices on the sockets.
struct MeshOfFour {
  int compute_capability = 80;
  int lanes = 4;
  double pcie_gb = 31.5;
  double slot_gb = 31.5;
  int nics = 2;
  int sockets = 1;
  Processor processor = Processor::kAmd;
};

inline NcclHost mesh_of_four(const MeshOfFour& what) {
  NcclHost host{.gpus = 4,
                .compute_capability = what.compute_capability,
                .links = NcclHost::Links::kMesh,
                .pcie = Bandwidth(what.pcie_gb * 1e9),
                .gpu_slot = Bandwidth(what.slot_gb * 1e9),
                .sockets = what.sockets,
                .nics = what.nics,
                .nic = Bandwidth(25e9),
                .processor = what.processor};
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) host.lanes.push_back({.a = a, .b = b, .bandwidth = Bandwidth(what.lanes * 25e9)});
  }
  host.gpu_at = one_each(4, what.sockets);
  host.nic_at = one_each(what.nics, what.sockets);
  return host;
}

// Polaris: four A100 and two NICs of 200 Gb/s on one CPU.
inline NcclHost polaris() { return mesh_of_four({}); }
// Alps: four GH200, each with its own NIC on its own Grace (NVLink-C2C, 450 GB/s).
inline NcclHost alps() {
  return mesh_of_four({.compute_capability = 90, .lanes = 6, .pcie_gb = 63.0, .slot_gb = 450.0, .nics = 4, .sockets = 4,
                       .processor = Processor::kArm});
}

inline NcclTables shipped_tables(const std::string& version) {
  auto document = ConfigDocument::load(share_dir() + "/nccl/" + version + ".yaml");
  CHECK(document.has_value(), version);
  NcclTables tables = read_nccl_tables(document->root());
  CHECK(!document->log().diagnostics().has_errors(), render(document->log().diagnostics()));
  return tables;
}

inline NcclSetup setup_of(const NcclHost& host, const std::string& version = "2.30") {
  return {.tables = shipped_tables(version), .host = host, .knobs = {}, .tuner = {}};
}

}  // namespace ringwright::collectives
