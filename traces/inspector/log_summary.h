// A communication log summarised: collectives by size, ranks that others wait for, communicators that are slow.
#pragma once

#include <string>

#include "traces/inspector/communication_log.h"

namespace ringwright::traces {

[[nodiscard]] std::string communication_log_text(const CommunicationLog& log);
// One object, schema "ringwright.inspect.communication/1".
[[nodiscard]] std::string communication_log_json(const CommunicationLog& log);

}  // namespace ringwright::traces
