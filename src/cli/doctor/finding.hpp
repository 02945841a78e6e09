// The result of one check of `doctor`.
#pragma once

#include <string>
#include <string_view>

namespace plim::cli::doctor {

enum class Status {
  ok,
  degraded,  // works with restrictions
  absent,    // not on this machine, and nothing here needs it
  failed,    // a role that needs it cannot work
};

constexpr std::string_view status_name(Status status) {
  constexpr std::string_view kNames[] = {"ok", "degraded", "absent", "failed"};
  return kNames[static_cast<std::size_t>(status)];
}

struct Finding {
  std::string check = {};
  Status status = Status::ok;
  std::string found = {};   // what the check found
  std::string effect = {};  // what works and what does not; empty if ok
  std::string remedy = {};  // how to improve it
};

}  // namespace plim::cli::doctor
