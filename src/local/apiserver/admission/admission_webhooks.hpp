// Calls mutating and validating webhooks, as admission steps of every write.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/event.hpp"
#include "base/task.hpp"
#include "local/apiserver/admission/webhook_caller.hpp"
#include "local/apiserver/api/api_server.hpp"
#include "local/apiserver/api/hooks.hpp"
#include "local/store/store.hpp"

namespace plim::local::apiserver {

// Reads the configurations from the store for each write, so that a webhook is active as soon as
// its configuration is stored. Belongs to the server's loop; outlives the server, and is stopped
// after it.
class AdmissionWebhooks {
 public:
  // Adds itself to the hooks of the server.
  static std::unique_ptr<AdmissionWebhooks> install(Executor loop, store::Store& store,
                                                    ApiServer& server);
  AdmissionWebhooks(const AdmissionWebhooks&) = delete;
  AdmissionWebhooks& operator=(const AdmissionWebhooks&) = delete;

  Task<ApiResult<void>> mutate(AdmissionPtr admission);
  // Also validates webhook configurations themselves; webhooks are never called for those.
  Task<ApiResult<void>> validate(AdmissionPtr admission);
  // True if a mutating webhook is configured.
  bool is_any_configured();
  Task<void> stop();

 private:
  struct Cached {
    store::Revision modified = 0;
    std::vector<WebhookPtr> webhooks = {};
  };

  // The result of calling one webhook for a write.
  struct Outcome {
    bool called = false;
    bool changed = false;
  };

  // Several webhooks called at once.
  struct Round;

  AdmissionWebhooks(Executor loop, store::Store& store, ApiServer& server);
  // Ordered by the names of the configurations, then as listed in each.
  std::vector<WebhookPtr> configured(const std::string& prefix);
  bool is_selected(const Webhook& webhook, const Admission& admission) const;
  Task<ApiResult<Outcome>> invoke(AdmissionPtr admission, WebhookPtr webhook, Phase phase);
  Task<void> invoke_in_round(std::shared_ptr<Round> round, AdmissionPtr admission,
                             WebhookPtr webhook, std::size_t place);

  Executor loop_;
  store::Store& store_;
  WebhookCaller caller_;
  std::string mutating_prefix_, validating_prefix_;
  KindPtr namespaces_;
  std::map<std::string, Cached> cache_;
  TaskGroup calls_;
};

}  // namespace plim::local::apiserver
