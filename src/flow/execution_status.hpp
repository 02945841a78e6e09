// The states of an execution.
#pragma once

#include <optional>
#include <string_view>

namespace plim::flow {

enum class ExecutionStatus {
  pending,
  running,
  failing,  // still running, but a slice has failed
  completed,
  failed,   // can be resumed
  stopped,  // can be resumed
};

// "running": the name in the ledger, in events and in messages.
std::string_view status_name(ExecutionStatus status);
std::optional<ExecutionStatus> parse_execution_status(std::string_view name);

}  // namespace plim::flow
