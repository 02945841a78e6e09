#include <algorithm>

#include <fmt/format.h>

#include "base/loop.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "cli/cluster_access.hpp"
#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/webhook_certs.hpp"
#include "kube/paths.hpp"

namespace plim::cli {
namespace {

Task<Result<webhook::CertState>> make_certificates(kube::Config config,
                                                   webhook::CertSettings settings) {
  Executor loop = co_await current_loop();
  auto client = kube::Client::create(loop, std::move(config));
  if (!client) co_return client.error();
  co_return co_await webhook::ensure_certificates(std::move(*client), std::move(settings),
                                                  system_clock());
}

std::string_view words_for(kube::Renewal renewal) {
  switch (renewal) {
    case kube::Renewal::none:
      return "unchanged";
    case kube::Renewal::serving:
      return "new certificate from the same authority";
    case kube::Renewal::authority:
      return "new authority and certificate";
  }
  return "";
}

Outcome<void> add_manifests(const std::string& file, webhook::CertSettings& settings) {
  auto text = read_input(file);
  if (!text) return tl::unexpected(file_failure(Plm::cannot_read, text.error()));
  auto documents = parse_yaml_documents(*text, file);
  if (!documents) return tl::unexpected(file_failure(Plm::cannot_read, documents.error()));
  for (YamlDocument& document : *documents) {
    json::value object = std::move(document).take();
    if (kube::text_at(object, "Object.kind") != "MutatingWebhookConfiguration") continue;
    std::string name(kube::text_at(object, "MutatingWebhookConfiguration.metadata.name"));
    if (std::ranges::find(settings.configurations, name) == settings.configurations.end())
      settings.configurations.push_back(std::move(name));
    settings.manifests.push_back(std::move(object));
  }
  if (settings.manifests.empty())
    return usage_failure(Plm::bad_flag_value,
                         fmt::format("{} has no MutatingWebhookConfiguration", file));
  return {};
}

}  // namespace

webhook::CertSettings cert_settings(const Context& context) {
  webhook::CertSettings out{.service = context.values.text("service"),
                            .secret = context.values.text("secret")};
  if (!context.values.text("namespace").empty()) out.ns = context.values.text("namespace");
  out.configurations.clear();
  for (std::string_view name : split(context.values.text("webhook-configs"), ','))
    if (!trim(name).empty()) out.configurations.emplace_back(trim(name));
  return out;
}

Outcome<int> run_webhook_certs(Context& context) {
  PLIM_CLI_TRY(kube::Config config, cluster_config(context));
  webhook::CertSettings settings = cert_settings(context);
  if (const std::string& file = context.values.text("file"); !file.empty())
    PLIM_CLI_CHECK(add_manifests(file, settings));
  const std::string& rotate = context.values.text("rotate");
  if (rotate == "serving") settings.rotate = webhook::Rotate::serving;
  if (rotate == "authority") settings.rotate = webhook::Rotate::authority;
  Loop loop;
  const auto state = run_to_end(loop, make_certificates(config, settings));
  if (!state) return tl::unexpected(request_failure(state.error(), describe(config)));
  std::string text =
      fmt::format("secret {}/{}: {}\n", settings.ns, settings.secret, words_for(state->done));
  for (const std::string& name : state->told)
    text += fmt::format("mutatingwebhookconfiguration {}: caBundle written\n", name);
  PLIM_CLI_CHECK(context.world.out.write(text));
  for (const std::string& name : state->missing)
    (void)context.world.err.write(
        fmt::format("warning: mutatingwebhookconfiguration {} does not exist; run this command "
                    "again when it does\n",
                    name));
  return 0;
}

}  // namespace plim::cli
