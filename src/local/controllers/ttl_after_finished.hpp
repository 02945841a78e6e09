// Deletes finished Jobs after their ttlSecondsAfterFinished.
#pragma once

#include <optional>
#include <string>

#include "local/controllers/controller.hpp"

namespace plim::local::controllers {

// When the Job expires; nothing while it runs or if it has no TTL.
std::optional<WallTime> expiry_of(const json::value& job);

class TtlAfterFinishedController final : public Controller {
 public:
  explicit TtlAfterFinishedController(const ControllerContext& context);

 private:
  Task<Result<void>> reconcile(std::string key) override;

  ObjectCache& jobs_;
};

}  // namespace plim::local::controllers
