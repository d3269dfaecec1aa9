#include "traces/chakra/reader.h"

#include <span>

#include "core/config/text_lines.h"
#include "traces/chakra/json_reader.h"
#include "traces/chakra/record_reader.h"
#include "traces/input/byte_stream.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kBeginning = 4096;

}  // namespace

Result<ChakraReading> read_chakra(const std::string& path, const ChakraReadOptions& options) {
  auto bytes = ByteStream::open(path);
  if (!bytes) return tl::unexpected(failure("E245", "cannot read the trace: " + bytes.error(), {.file = path}));
  std::string beginning(kBeginning, '\0');
  const auto got = bytes->read(std::span(beginning));
  if (!got) return tl::unexpected(failure("E245", "cannot read the trace: " + got.error(), {.file = path}));
  beginning.resize(*got);
  const bool is_json = looks_like_chakra_json(without_byte_order_mark(beginning));
  return is_json ? read_chakra_json(path) : read_chakra_records(path, options);
}

}  // namespace ringwright::traces
