// Deletes Jobs some time after they have finished, if they ask for it.
#pragma once

#include <optional>
#include <string>

#include "local/controllers/controller.hpp"

namespace plim::local::controllers {

// When the Job may go; nothing while it runs or if it may stay.
std::optional<WallTime> expiry_of(const json::value& job);

class TtlAfterFinishedController final : public Controller {
 public:
  explicit TtlAfterFinishedController(const ControllerContext& context);

 private:
  Task<Result<void>> reconcile(std::string key) override;

  ObjectCache& jobs_;
};

}  // namespace plim::local::controllers
