#include "traces/timeline/timeline.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <schemas/traces/timeline/perfetto.pb.h>

namespace ringwright::traces::timeline_test {
namespace {

namespace perfetto = schemas::perfetto;
using namespace literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two ranks: a kernel, an all-reduce of both on stream 1, a message from rank 0 to rank 1 without a stream.
TaskGraph example_graph() {
  TaskGraph graph;
  graph.works = {{.name = "gemm", .kernels = {}}};
  graph.collectives = {{.kind = CollectiveKind::kAllReduce, .bytes = 1_MiB}};
  graph.messages = {{.peer = 1, .bytes = 64_KiB}, {.peer = 0, .bytes = 64_KiB}};
  graph.labels = {"forward"};
  graph.dimensions = {
      {.name = "dp", .group_of = {}, .index_in_group = {}, .groups = {{RankId(0), RankId(1)}}, .layout_of_group = {}}};
  index_groups(graph.dimensions[0], 2);
  for (const TaskKind kind : {TaskKind::kSend, TaskKind::kReceive}) {
    Program program{
        .name = kind == TaskKind::kSend ? "first" : "second", .tasks = {}, .dependencies = {}, .stream_count = 2};
    program.tasks = {{.kind = TaskKind::kCompute, .stream = 0, .detail = 0, .label = 0},
                     {.kind = TaskKind::kCollective, .stream = 1, .dimension = DimensionId(0), .detail = 0, .label = 9},
                     {.kind = kind,
                      .stream = kNoStream,
                      .dimension = DimensionId(0),
                      .detail = kind == TaskKind::kSend ? 0U : 1U,
                      .label = 9}};
    graph.program_of.push_back(ProgramId(graph.programs.size()));
    graph.programs.push_back(std::move(program));
  }
  return graph;
}

RunRecord example_record() {
  RunRecord record;
  for (const std::uint32_t rank : {0U, 1U}) {
    const auto at = [](Duration time) { return TimePoint(time); };
    record.spans.push_back({.rank_class = ClassId(rank), .task = 0, .start = at(0_us), .end = at(10_us)});
    record.spans.push_back({.rank_class = ClassId(rank), .task = 1, .start = at(10_us), .end = at(30_us)});
    record.spans.push_back({.rank_class = ClassId(rank), .task = 2, .start = at(5_us), .end = at(12_us)});
  }
  return record;
}

TraceSelection both(const std::vector<std::uint32_t>& steps = {0}) {
  return {.ranks = {RankId(0), RankId(1)}, .steps = steps};
}

Timeline example() {
  return timeline_of(example_record(), example_graph(), identity_classes(2), both());
}

TEST(TraceRanks, OfRolesAreTheFirstOfEach) {
  TaskGraph graph = example_graph();
  graph.program_of = {ProgramId(0), ProgramId(0), ProgramId(1), ProgramId(0)};
  EXPECT_THAT(role_trace_ranks(graph, 8), ElementsAre(RankId(0), RankId(2)));
  EXPECT_THAT(role_trace_ranks(graph, 1), ElementsAre(RankId(0)));
}

TEST(Timeline, HasATrackForEachStreamOfEachRank) {
  const Timeline timeline = example();
  ASSERT_EQ(timeline.ranks.size(), 2u);
  EXPECT_EQ(timeline.ranks[1].role, "second");
  std::vector<std::string> tracks;
  for (const TimelineTrack& track : timeline.tracks) tracks.push_back(track.name);
  EXPECT_THAT(tracks,
              ElementsAre("compute", "messages 1: dp", "stream 1: dp", "compute", "messages 1: dp", "stream 1: dp"));
  EXPECT_EQ(timeline.slices.size(), 6u);
}

TEST(Timeline, OverlappingTasksWithoutAStreamHaveTracksOfTheirOwn) {
  RunRecord record = example_record();
  auto again = record.spans[2];
  again.start = TimePoint(6_us);
  record.spans.push_back(again);
  again.start = TimePoint(20_us);
  again.end = TimePoint(21_us);
  record.spans.push_back(again);  // the first track is free again
  const Timeline timeline = timeline_of(record, example_graph(), identity_classes(2),
                                        {.ranks = {RankId(0)}, .steps = {0}});
  EXPECT_EQ(timeline.tracks.size(), 4u);
  std::map<std::uint32_t, TimePoint> free_from;
  for (const TimelineSlice& slice : timeline.slices) {
    EXPECT_LE(free_from[slice.track], slice.start);
    free_from[slice.track] = slice.end;
  }
}

TEST(Timeline, MembersOfACollectiveAndEndsOfAMessageShareAFlow) {
  std::map<std::uint64_t, std::vector<SliceKind>> flows;
  for (const TimelineSlice& slice : example().slices) {
    if (slice.flow != 0) flows[slice.flow].push_back(slice.kind);
  }
  ASSERT_EQ(flows.size(), 2u);
  std::vector<std::vector<SliceKind>> kinds;
  for (const auto& [flow, of_flow] : flows) kinds.push_back(of_flow);
  EXPECT_THAT(kinds, ::testing::UnorderedElementsAre(ElementsAre(SliceKind::kCollective, SliceKind::kCollective),
                                                     ElementsAre(SliceKind::kSend, SliceKind::kReceive)));
}

TEST(Timeline, CallsOfDifferentStepsDoNotShareAFlow) {
  TaskGraph graph = example_graph();
  graph.iterations = 2;
  RunRecord record = example_record();
  for (std::size_t i = 0; i < 6; ++i) {
    Span span = record.spans[i];
    span.iteration = 1;
    span.start = span.start + 100_us;
    span.end = span.end + 100_us;
    record.spans.push_back(span);
  }
  const Timeline timeline = timeline_of(record, graph, identity_classes(2), both({0, 1}));
  std::map<std::uint64_t, int> members;
  for (const TimelineSlice& slice : timeline.slices) {
    if (slice.flow != 0) ++members[slice.flow];
  }
  EXPECT_EQ(members.size(), 4u);
  for (const auto& [flow, count] : members) EXPECT_EQ(count, 2) << flow;
  EXPECT_EQ(count_slices(graph, both({0, 1})), timeline.slices.size());
  // Of the second step alone, half of them.
  const Timeline second = timeline_of(record, graph, identity_classes(2), both({1}));
  EXPECT_EQ(second.slices.size() * 2, timeline.slices.size());
  EXPECT_EQ(count_slices(graph, both({1})), second.slices.size());
}

TEST(Timeline, RanksOfOneClassShareItsSpans) {
  RankClasses classes{.class_of = {ClassId(0), ClassId(0)}, .representative = {RankId(0)}, .size = {2}};
  RunRecord record = example_record();
  std::erase_if(record.spans, [](const Span& span) { return span.rank_class == ClassId(1); });
  TaskGraph graph = example_graph();
  graph.program_of[1] = graph.program_of[0];
  EXPECT_EQ(timeline_of(record, graph, classes, both()).slices.size(), 6u);
}

TEST(PerfettoTrace, HasEverySliceWithItsTimes) {
  perfetto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(perfetto_trace(example())));
  std::map<std::uint64_t, std::string> names;
  std::map<std::uint64_t, std::string> tracks;
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::uint64_t>>> slices;  // by track's name
  std::map<std::uint64_t, std::uint64_t> begun;
  int processes = 0;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    for (const perfetto::EventName& name : packet.interned_data().event_names()) names[name.iid()] = name.name();
    const perfetto::TrackDescriptor& track = packet.track_descriptor();
    processes += track.has_process() ? 1 : 0;
    if (track.has_thread()) tracks[track.uuid()] = track.thread().thread_name();
    const perfetto::TrackEvent& event = packet.track_event();
    if (event.type() == perfetto::TrackEvent::SLICE_BEGIN) begun[event.track_uuid()] = packet.timestamp();
    if (event.type() == perfetto::TrackEvent::SLICE_END) {
      slices[tracks[event.track_uuid()]].emplace_back(begun[event.track_uuid()], packet.timestamp());
    }
  }
  EXPECT_EQ(processes, 2);
  EXPECT_EQ(tracks.size(), 6u);
  EXPECT_THAT(slices["compute"], ElementsAre(std::pair(0, 10'000), std::pair(0, 10'000)));  // ns
  EXPECT_THAT(slices["stream 1: dp"], ElementsAre(std::pair(10'000, 30'000), std::pair(10'000, 30'000)));
  EXPECT_EQ(slices["messages 1: dp"].size(), 2u);
  EXPECT_EQ(names[1], "forward gemm");
}

// Two intervals of 5 us of one tier and one link; memory of rank 1.
Timeline with_counters() {
  Timeline timeline = example();
  timeline.links = LinkCurves{.start = TimePoint(2_us),
                              .interval = 5_us,
                              .tiers = {{.name = "GPU - NVSwitch", .links = 4, .mean = {0.25, 0.5},
                                         .highest = {1, 1}}},
                              .links = {{.name = "gpu0->nvswitch0", .links = 2, .mean = {0.75, 0}, .highest = {}}}};
  timeline.memory.of_ranks = {
      {.rank = 1, .points = {{.at = TimePoint(), .held = 1_GiB}, {.at = TimePoint(3_us), .held = 2_GiB}}}};
  return timeline;
}

// A value holds until the next one: equal ones follow once, and the use of a link ends with zero.
TEST(PerfettoTrace, HasCountersOfLinksAndMemory) {
  perfetto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(perfetto_trace(with_counters())));
  std::map<std::uint64_t, perfetto::TrackDescriptor> tracks;
  std::map<std::string, std::vector<std::pair<std::uint64_t, double>>> values;  // by track's name: ns, value
  for (const perfetto::TracePacket& packet : trace.packet()) {
    const perfetto::TrackDescriptor& track = packet.track_descriptor();
    if (packet.has_track_descriptor()) {
      EXPECT_FALSE(tracks.contains(track.uuid()));
      tracks[track.uuid()] = track;
    }
    const perfetto::TrackEvent& event = packet.track_event();
    if (event.type() != perfetto::TrackEvent::COUNTER) continue;
    const perfetto::TrackDescriptor& of = tracks[event.track_uuid()];
    ASSERT_TRUE(of.has_counter());
    const bool bytes = of.counter().unit() == perfetto::CounterDescriptor::UNIT_SIZE_BYTES;
    EXPECT_EQ(bytes ? "rank 1 (second)" : "links",
              bytes ? tracks[of.parent_uuid()].process().process_name() : tracks[of.parent_uuid()].name());
    EXPECT_EQ(bytes, event.has_counter_value());
    values[of.name()].emplace_back(packet.timestamp(), bytes ? static_cast<double>(event.counter_value())
                                                             : event.double_counter_value());
  }
  EXPECT_EQ(values.size(), 4U);
  EXPECT_THAT(values["GPU - NVSwitch, mean of 4 links"],
              ElementsAre(std::pair(2'000, 25.0), std::pair(7'000, 50.0), std::pair(12'000, 0.0)));
  EXPECT_THAT(values["GPU - NVSwitch, fullest link"], ElementsAre(std::pair(2'000, 100.0), std::pair(12'000, 0.0)));
  EXPECT_THAT(values["gpu0->nvswitch0 (2 equal)"], ElementsAre(std::pair(2'000, 75.0), std::pair(7'000, 0.0)));
  EXPECT_THAT(values["device memory"],
              ElementsAre(std::pair(0, 1024.0 * 1024.0 * 1024.0), std::pair(3'000, 2048.0 * 1024.0 * 1024.0)));
}

TEST(ChromeTrace, HasCountersOfLinksAndMemory) {
  const std::string text = chrome_trace(with_counters());
  EXPECT_THAT(text, HasSubstr(R"json("process_name", "pid": 2, "tid": 0, "args": {"name": "links"})json"));
  EXPECT_THAT(text, HasSubstr(R"json({"ph": "C", "name": "GPU - NVSwitch, mean of 4 links", "pid": 2, )json"
                              R"json("ts": 7.000000, "args": {"percent": 50}})json"));
  EXPECT_THAT(text, HasSubstr(R"json({"ph": "C", "name": "device memory", "pid": 1, "ts": 3.000000, )json"
                              R"json("args": {"bytes": 2147483648}})json"));
}

// Rank 0 has two microbatches in flight, then one; rank 1 has no passes.
TEST(MemoryCurves, FollowTheMicrobatchesInFlight) {
  Timeline timeline = example();
  timeline.names = {"F0 forward", "F1 forward", "B0 backward"};
  timeline.slices = {{.track = 0, .name = 0, .start = TimePoint(1_us), .end = TimePoint(2_us)},
                     {.track = 0, .name = 1, .start = TimePoint(2_us), .end = TimePoint(5_us)},
                     {.track = 0, .name = 2, .start = TimePoint(5_us), .end = TimePoint(7_us)}};
  timeline.ranks[0].role = "stage 1";
  const std::vector<MemoryRow> rows = {
      {.stage = 0, .items = {}, .total = 1_GiB},
      {.stage = 1,
       .items = {{.name = "weights", .size = 1_GiB}, {.name = "layer activations", .size = 2_GiB}},
       .total = 3_GiB}};
  const MemoryCurves curves = memory_curves(timeline, rows, 100);
  ASSERT_EQ(curves.of_ranks.size(), 1U);
  EXPECT_EQ(curves.left_out, 0U);
  std::vector<std::pair<Duration, Bytes>> points;
  for (const MemoryPoint& point : curves.of_ranks[0].points) points.emplace_back(point.at.since_start(), point.held);
  EXPECT_THAT(points, ElementsAre(std::pair(0_us, 1_GiB), std::pair(1_us, 2_GiB), std::pair(2_us, 3_GiB),
                                  std::pair(5_us, 2_GiB), std::pair(7_us, 1_GiB)));
  EXPECT_EQ(memory_curves(timeline, rows, 4).left_out, 1U);
  EXPECT_TRUE(memory_curves(timeline, rows, 4).of_ranks.empty());
}

TEST(ChromeTrace, HasSlicesProcessesAndFlows) {
  const std::string text = chrome_trace(example());
  EXPECT_THAT(text, HasSubstr(R"json("process_name", "pid": 1, "tid": 0, "args": {"name": "rank 1 (second)"})json"));
  EXPECT_THAT(text, HasSubstr(R"json("dp all_reduce", "cat": "collective", "pid": 0, "tid": 3, "ts": 10.000000)json"));
  EXPECT_THAT(text, HasSubstr(R"json("dur": 20.000000, "args": {"bytes": 1048576, "step": 0})json"));
  EXPECT_THAT(text, HasSubstr(R"json({"ph": "s", "name": "together")json"));
  EXPECT_THAT(text, HasSubstr(R"json({"ph": "t", "name": "together")json"));
}

TEST(TraceRanks, AreRanksAndRanges) {
  EXPECT_THAT(parse_trace_ranks("0,2-4, 3", 8).value(), ElementsAre(RankId(0), RankId(2), RankId(3), RankId(4)));
  for (const char* text : {"8", "3-1", "x", "", "1,,2", "-1"}) {
    const auto ranks = parse_trace_ranks(text, 8);
    ASSERT_FALSE(ranks.has_value()) << text;
    EXPECT_THAT(render(ranks.error()), HasSubstr("error[E267]"));
  }
}

TEST(TraceSteps, AreStepsAndRanges) {
  EXPECT_THAT(parse_trace_steps("0,2-3", 4).value(), ElementsAre(0U, 2U, 3U));
  EXPECT_THAT(render(parse_trace_steps("4", 4).error()),
              HasSubstr("'4' in --trace-steps 4 is no step or range of steps from 0 to 3"));
}

TEST(TraceRanks, AreThoseOfTheFirstReplicaWhereNoneAreNamed) {
  EXPECT_THAT(usual_trace_ranks(example_graph(), 64), ElementsAre(RankId(0)));
}

TEST(TimelineSize, IsThatOfTheViewer) {
  EXPECT_EQ(form_of_timeline("a.json"), TimelineForm::kChrome);
  EXPECT_EQ(form_of_timeline("a.pftrace"), TimelineForm::kPerfetto);
  EXPECT_FALSE(check_timeline_size(250'000, 8, TimelineForm::kChrome).has_errors());
  EXPECT_THAT(render(check_timeline_size(250'001, 8, TimelineForm::kChrome)),
              HasSubstr("error[E266]: a timeline of 8 ranks has 250001 slices; Chrome's form takes 250000"));
  EXPECT_FALSE(check_timeline_size(250'001, 8, TimelineForm::kPerfetto).has_errors());
}

}  // namespace
}  // namespace ringwright::traces::timeline_test
