#include "tools/program.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "tools/command_line.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

// Instead of std::bad_alloc, which other threads could not catch: nothing is lost, since results are written last.
[[noreturn]] void stop_without_memory() {
  std::fputs(
      "error: out of memory: this machine has too little for this run; fewer ranks, microbatches or threads (-j) "
      "need less\n",
      stderr);
  std::_Exit(static_cast<int>(ExitCode::kOutOfMemory));
}

#ifdef __GLIBC__
constexpr int kMiB = 1 << 20;

// Events read the state of thousands of classes in no order that a cache or its table of pages could follow. The
// allocator's heap is extended once, by more than most runs need, and beyond what small runs need it asks for pages of
// 2 MiB; what is not used takes no memory. Whatever fails here is only slower.
void ask_for_large_pages() {
  constexpr int kReserved = 1024 * kMiB;
  constexpr int kInSmallPages = 16 * kMiB;
  constexpr std::uintptr_t kPage = 2 * kMiB;
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, kReserved);
  void* volatile more = std::malloc(kMiB);  // than what is left of the first heap; volatile, or it is optimised away
  std::free(more);
  mallopt(M_TOP_PAD, kMiB);
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const std::uintptr_t begin = (end - kReserved + kInSmallPages + kPage - 1) / kPage * kPage;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // NOLINT
}
#endif

// A search frees most of a step's memory and needs it again for the next one: the allocator retains it instead of
// returning it to the system, page by page.
void retain_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);  // the most that it adapts to by itself
  ask_for_large_pages();
#endif
}

ExitCode run_command(std::span<CommandFactory* const> factories, const std::vector<std::string>& arguments,
                     std::string_view missing) {
  std::vector<std::unique_ptr<Command>> commands;
  for (CommandFactory* const make : factories) commands.push_back(make());
  const ParsedCommand parsed = parse(commands, arguments, missing);
  if (parsed.command != nullptr) return parsed.command->run(parsed.common);
  parsed.exit_code == ExitCode::kOk ? print(parsed.text) : tell(parsed.text);
  return parsed.exit_code;
}

// Output that cannot be written is a failure.
ExitCode after_output(ExitCode code) {
  return flush_output() == Output::kLost && code == ExitCode::kOk ? ExitCode::kUsage : code;
}

}  // namespace

int run_program(std::span<CommandFactory* const> commands, int argument_count, char** arguments,
                std::string_view missing) {
  std::set_new_handler(stop_without_memory);
  retain_memory();
  try {
    const ExitCode code = run_command(commands, {arguments + 1, arguments + argument_count}, missing);
    return static_cast<int>(after_output(code));
  } catch (const std::exception& error) {
    // Nothing should get here; if it does, a line is better than a terminate.
    std::fprintf(stderr, "internal error: %s\n", error.what());
    return static_cast<int>(ExitCode::kInternal);
  }
}

}  // namespace ringwright::tools
