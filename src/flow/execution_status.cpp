#include "flow/execution_status.hpp"

#include <algorithm>
#include <array>

namespace plim::flow {
namespace {

struct StatusName {
  ExecutionStatus status;
  std::string_view name;
};

constexpr std::array kStatusNames{
    StatusName{ExecutionStatus::pending, "pending"},
    StatusName{ExecutionStatus::running, "running"},
    StatusName{ExecutionStatus::failing, "failing"},
    StatusName{ExecutionStatus::completed, "completed"},
    StatusName{ExecutionStatus::failed, "failed"},
    StatusName{ExecutionStatus::stopped, "stopped"},
};

}  // namespace

std::string_view status_name(ExecutionStatus status) {
  return std::ranges::find(kStatusNames, status, &StatusName::status)->name;
}

std::optional<ExecutionStatus> parse_execution_status(std::string_view name) {
  const auto* const found = std::ranges::find(kStatusNames, name, &StatusName::name);
  if (found == kStatusNames.end()) return std::nullopt;
  return found->status;
}

}  // namespace plim::flow
