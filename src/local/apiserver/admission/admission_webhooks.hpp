// Mutating and validating webhooks, as steps of every write.
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

// Reads the configurations from the store with each write, so that a webhook counts from the moment
// its configuration is stored. Belongs to the server's loop; outlives the server, and is stopped
// after it.
class AdmissionWebhooks {
 public:
  // Hooks itself into the server.
  static std::unique_ptr<AdmissionWebhooks> install(Executor loop, store::Store& store,
                                                    ApiServer& server);
  AdmissionWebhooks(const AdmissionWebhooks&) = delete;
  AdmissionWebhooks& operator=(const AdmissionWebhooks&) = delete;

  Task<ApiResult<void>> mutate(AdmissionPtr admission);
  // Also checks what is written about webhooks themselves: they are never asked about that.
  Task<ApiResult<void>> validate(AdmissionPtr admission);
  // Is there a mutating webhook at all?
  bool is_any_configured();
  Task<void> stop();

 private:
  struct Cached {
    store::Revision modified = 0;
    std::vector<WebhookPtr> webhooks = {};
  };

  // What one webhook did with a write.
  struct Outcome {
    bool called = false;
    bool changed = false;
  };

  // Several webhooks asked at once.
  struct Round;

  AdmissionWebhooks(Executor loop, store::Store& store, ApiServer& server);
  // In the order of configurations' names, then of the configuration.
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
