// Programs as tests write them.
#pragma once

#include <string>

#include <fmt/format.h>

namespace ringwright::collectives {

// A ring of `ranks` GPUs: each all-reduces its buffer, cut into as many chunks, in place, on one channel.
inline std::string ring_all_reduce(int ranks) {
  std::string text = fmt::format(
      "<algo name=\"own_ring\" ngpus=\"{0}\" nchannels=\"1\" nchunksperloop=\"{0}\" proto=\"LL\" "
      "coll=\"allreduce\" inplace=\"1\" minBytes=\"0\" maxBytes=\"1048576\">\n",
      ranks);
  const auto step = [&](int number, const char* type, int chunk) {
    const int c = ((chunk % ranks) + ranks) % ranks;
    text += fmt::format(
        "<step s=\"{0}\" type=\"{1}\" srcbuf=\"i\" srcoff=\"{2}\" dstbuf=\"i\" dstoff=\"{2}\" cnt=\"1\" "
        "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n",
        number, type, c);
  };
  for (int rank = 0; rank < ranks; ++rank) {
    text += fmt::format("<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"0\" s_chunks=\"0\">\n<tb id=\"0\" send=\"{}\" "
                        "recv=\"{}\" chan=\"0\">\n", rank, ranks, (rank + 1) % ranks, (rank + ranks - 1) % ranks);
    int number = 0;
    step(number++, "s", rank);
    for (int i = 1; i < ranks - 1; ++i) step(number++, "rrs", rank - i);
    step(number++, "rrcs", rank + 1);
    for (int i = 0; i < ranks - 2; ++i) step(number++, "rcs", rank - i);
    step(number++, "r", rank + 2);
    text += "</tb>\n</gpu>\n";
  }
  return text + "</algo>\n";
}

// Two GPUs that swap a chunk through scratch memory, with a thread block that adds what the other has received.
inline std::string exchange_and_add(const std::string& waits = "depid=\"0\" deps=\"1\"") {
  std::string text = "<algo name=\"pair\" ngpus=\"2\" nchannels=\"1\" nchunksperloop=\"1\" proto=\"Simple\" "
                     "coll=\"allreduce\" inplace=\"1\" maxBytes=\"1024\">\n";
  for (int rank = 0; rank < 2; ++rank) {
    text += fmt::format(
        "<gpu id=\"{0}\" i_chunks=\"1\" o_chunks=\"0\" s_chunks=\"1\">\n"
        "<tb id=\"0\" send=\"{1}\" recv=\"{1}\" chan=\"0\">\n"
        "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\"/>\n"
        "<step s=\"1\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\"/>\n"
        "</tb>\n<tb id=\"1\" send=\"-1\" recv=\"-1\" chan=\"0\">\n"
        "<step s=\"0\" type=\"re\" srcbuf=\"s\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" {2}/>\n"
        "</tb>\n</gpu>\n",
        rank, 1 - rank, waits);
  }
  return text + "</algo>\n";
}

}  // namespace ringwright::collectives
