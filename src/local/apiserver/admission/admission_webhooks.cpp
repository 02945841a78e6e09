#include "local/apiserver/admission/admission_webhooks.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/admission/webhook_match.hpp"
#include "local/apiserver/api/kind_rules.hpp"
#include "local/apiserver/api/object_bytes.hpp"
#include "local/apiserver/patch/patch.hpp"
#include "local/apiserver/schema/body_decode.hpp"
#include "local/apiserver/schema/defaults.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::string_view kGroup = "admissionregistration.k8s.io";

class Step final : public AdmissionStep {
 public:
  using Method = Task<ApiResult<void>> (AdmissionWebhooks::*)(AdmissionPtr);

  Step(AdmissionWebhooks& webhooks, Method method) : webhooks_(webhooks), method_(method) {}

  Task<ApiResult<void>> admit(AdmissionPtr admission) override {
    return (webhooks_.*method_)(std::move(admission));
  }

  bool attends(const Kind& /*kind*/) override { return webhooks_.is_any_configured(); }

 private:
  AdmissionWebhooks& webhooks_;
  Method method_;
};

// A webhook that could reject changes of its own configuration could never be removed.
bool is_exempt(const Kind& kind) {
  return kind.group == kGroup;
}

ApiResult<void> check_own_kind(Admission& admission) {
  const Kind& kind = *admission.kind;
  if (!admission.object.is_object()) return {};
  if (kind.plural.starts_with("validatingadmissionpolic")) {
    if (admission.call)
      admission.call->warnings.push_back(
          fmt::format("{} is stored, but this server does not evaluate it", kind.kind));
    return {};
  }
  std::vector<Cause> causes = check_webhooks(admission.object);
  if (!causes.empty()) return invalid(kind, admission.name, std::move(causes));
  return {};
}

// Brings an object that a webhook has changed into canonical form, as if a client had sent it.
Result<void> settle(const Kind& kind, json::value& object) {
  FieldMistakes ignored;
  if (kind.rules) {
    PLIM_CHECK(kind.rules->conform(object, ignored));
    kind.rules->apply_defaults(object);
  } else if (kind.type) {
    PLIM_CHECK(conform(*kind.type, object, ignored));
    apply_defaults(kind.group, kind.kind, *kind.type, object);
  }
  return {};
}

// A webhook may not change the kind of the object, or its name and namespace.
ApiResult<void> check_identity(const Admission& admission, const json::value& patched) {
  const Kind& kind = *admission.kind;
  const std::string_view made = kube::text_at(patched, "Object.kind");
  if (!made.empty() && made != kind.kind)
    return ApiError{
        .code = 500,
        .reason = "",
        .message = fmt::format("converting ({}.{}) to ({}.{}): unknown conversion", kind.version,
                               made, kind.group.empty() ? "core" : kind.group, kind.kind)};
  if (kube::text_at(patched, "Object.metadata.namespace") != admission.ns)
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  return {};
}

// True if the patch changed the object.
ApiResult<bool> apply_patch(Admission& admission, const Webhook& webhook, std::string_view text) {
  auto patch = parse_json(text);
  if (!patch) return cannot_be_followed(patch.error().message);
  if (patch->is_array() && patch->get_array().empty()) return false;
  if (!admission.object.is_object())
    return cannot_be_followed(
        fmt::format("admission webhook {} attempted to modify the object, which is not supported "
                    "for this operation",
                    quote(webhook.name)));
  auto patched = apply_json_patch(admission.object, *patch);
  if (!patched) return cannot_be_followed(patched.error().message);
  if (*patched == admission.object) return false;
  PLIM_CHECK(check_identity(admission, *patched));
  if (auto settled = settle(*admission.kind, *patched); !settled)
    return cannot_be_followed(settled.error().message);
  admission.object = std::move(*patched);
  return true;
}

const json::object& labels_of(const json::value& object) {
  static const json::object none;
  const json::value* labels = kube::find(object, "Object.metadata.labels");
  return labels && labels->is_object() ? labels->get_object() : none;
}

}  // namespace

struct AdmissionWebhooks::Round {
  explicit Round(const Executor& loop) : ended(loop) {}

  std::vector<ApiResult<Outcome>> results = {};
  std::size_t open = 0;
  Event ended;
};

std::unique_ptr<AdmissionWebhooks> AdmissionWebhooks::install(Executor loop, store::Store& store,
                                                              ApiServer& server) {
  std::unique_ptr<AdmissionWebhooks> out(new AdmissionWebhooks(std::move(loop), store, server));
  Hooks& hooks = server.hooks();
  hooks.mutating.push_back(std::make_shared<Step>(*out, &AdmissionWebhooks::mutate));
  hooks.validating.push_back(std::make_shared<Step>(*out, &AdmissionWebhooks::validate));
  return out;
}

AdmissionWebhooks::AdmissionWebhooks(Executor loop, store::Store& store, ApiServer& server)
    : loop_(loop),
      store_(store),
      caller_(loop, server.client({.name = "system:apiserver", .groups = {"system:masters"}})),
      namespaces_(server.kinds().find("", "v1", "namespaces")),
      calls_(std::move(loop)) {
  const Kinds& kinds = server.kinds();
  mutating_prefix_ = kinds.find(kGroup, "v1", "mutatingwebhookconfigurations")->prefix;
  validating_prefix_ = kinds.find(kGroup, "v1", "validatingwebhookconfigurations")->prefix;
}

Task<void> AdmissionWebhooks::stop() {
  return calls_.stop();
}

std::vector<WebhookPtr> AdmissionWebhooks::configured(const std::string& prefix) {
  std::vector<WebhookPtr> out;
  const store::Page page = store_.view().list(prefix);
  for (const store::EntryPtr& entry : page.entries) {
    Cached& cached = cache_[entry->key];
    if (cached.modified != entry->modified) {
      cached = {.modified = entry->modified};
      for (Webhook& webhook : webhooks_of(decode_object(*entry->value)))
        cached.webhooks.push_back(std::make_shared<const Webhook>(std::move(webhook)));
    }
    out.insert(out.end(), cached.webhooks.begin(), cached.webhooks.end());
  }
  return out;
}

bool AdmissionWebhooks::is_any_configured() {
  return !store_.view().list(mutating_prefix_, {}, 1).entries.empty();
}

bool AdmissionWebhooks::is_selected(const Webhook& webhook, const Admission& admission) const {
  const Kind& kind = *admission.kind;
  if (kind.group.empty() && kind.plural == "namespaces")
    return selects(webhook, admission,
                   &labels_of(admission.object.is_object() ? admission.object : admission.before));
  if (!kind.namespaced) return selects(webhook, admission, nullptr);
  const store::EntryPtr entry = store_.get(namespaces_->key("", admission.ns));
  const json::value ns = entry ? decode_object(*entry->value) : json::value();
  return selects(webhook, admission, &labels_of(ns));
}

Task<ApiResult<AdmissionWebhooks::Outcome>> AdmissionWebhooks::invoke(AdmissionPtr admission,
                                                                      WebhookPtr webhook,
                                                                      Phase phase) {
  Outcome out;
  if (!is_selected(*webhook, *admission)) co_return out;
  const json::value request = review_request(*admission);
  const auto meant = conditions_hold(*webhook, request);
  if (!meant && !webhook->ignore_failures)
    co_return forbidden(*admission->kind, admission->name, meant.error().message);
  if (!meant || !*meant) co_return out;
  auto answer = co_await caller_.call(webhook, request.get_object(), phase);
  out.called = true;
  if (!answer) {
    if (webhook->ignore_failures) co_return out;
    co_return call_failed(webhook->name, answer.error().message);
  }
  if (admission->call) {
    for (std::string& warning : answer->warnings)
      admission->call->warnings.push_back(std::move(warning));
  }
  if (!answer->allowed) co_return denied(webhook->name, answer->status);
  if (answer->patch) {
    PLIM_CO_TRY(out.changed, apply_patch(*admission, *webhook, *answer->patch));
  }
  co_return out;
}

Task<ApiResult<void>> AdmissionWebhooks::mutate(AdmissionPtr admission) {
  if (is_exempt(*admission->kind)) co_return ApiResult<void>();
  const std::vector<WebhookPtr> webhooks = configured(mutating_prefix_);
  std::vector<bool> called(webhooks.size());
  std::vector<bool> again(webhooks.size());
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    PLIM_CO_TRY(Outcome outcome, co_await invoke(admission, webhooks[i], Phase::mutating));
    called[i] = outcome.called;
    for (std::size_t j = 0; outcome.changed && j < i; ++j)
      again[j] = again[j] || (called[j] && webhooks[j]->reinvoke);
  }
  // Calls webhooks with reinvocationPolicy IfNeeded again if a later one changed the object.
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    if (!again[i]) continue;
    PLIM_CO_CHECK(co_await invoke(admission, webhooks[i], Phase::mutating));
  }
  co_return ApiResult<void>();
}

Task<void> AdmissionWebhooks::invoke_in_round(std::shared_ptr<Round> round, AdmissionPtr admission,
                                              WebhookPtr webhook, std::size_t place) {
  auto result = co_await invoke(std::move(admission), std::move(webhook), Phase::validating);
  round->results[place] = std::move(result);
  if (--round->open == 0) round->ended.notify();
}

Task<ApiResult<void>> AdmissionWebhooks::validate(AdmissionPtr admission) {
  if (is_exempt(*admission->kind)) co_return check_own_kind(*admission);
  const std::vector<WebhookPtr> webhooks = configured(validating_prefix_);
  if (webhooks.empty()) co_return ApiResult<void>();
  auto round = std::make_shared<Round>(loop_);
  round->results.resize(webhooks.size(), Outcome{});
  round->open = webhooks.size();
  for (std::size_t i = 0; i < webhooks.size(); ++i)
    calls_.spawn("webhook " + webhooks[i]->name, invoke_in_round(round, admission, webhooks[i], i));
  while (round->open > 0) co_await round->ended.wait();
  for (const ApiResult<Outcome>& result : round->results)
    if (!result) co_return result.error();
  co_return ApiResult<void>();
}

}  // namespace plim::local::apiserver
