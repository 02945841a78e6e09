#include "sched/config_extenders.hpp"

#include <set>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/duration.hpp"
#include "base/text.hpp"

namespace plim::sched {
namespace {

constexpr std::int64_t kLargestExtenderWeight = 1'000'000'000;  // scores are multiplied by it

std::string read_base64(Fields& tls, const std::string& key) {
  const std::string text = tls.text(key);
  if (text.empty()) return {};
  auto decoded = base64_decode(text);
  if (decoded) return std::move(*decoded);
  tls.error(key, "expected Base64");
  return {};
}

ExtenderTls read_tls(Fields& tls) {
  ExtenderTls out{.insecure = tls.boolean("insecure", false),
                  .server_name = tls.text("serverName"),
                  .cert_file = tls.text("certFile"),
                  .key_file = tls.text("keyFile"),
                  .ca_file = tls.text("caFile"),
                  .cert_data = read_base64(tls, "certData"),
                  .key_data = read_base64(tls, "keyData"),
                  .ca_data = read_base64(tls, "caData")};
  tls.finish();
  return out;
}

// A name with a domain other than kubernetes.io: example.com/gpu.
bool is_extended_resource(std::string_view name) {
  const auto [domain, rest] = cut(name, '/');
  return !domain.empty() && !rest.empty() && domain != "kubernetes.io" &&
         !domain.ends_with(".kubernetes.io") && !name.starts_with("requests.");
}

ExtenderConfig read_extender(Fields& given, std::set<std::string>& managed) {
  ExtenderConfig out{.url_prefix = given.text("urlPrefix"),
                     .filter_verb = given.text("filterVerb"),
                     .preempt_verb = given.text("preemptVerb"),
                     .prioritize_verb = given.text("prioritizeVerb"),
                     .bind_verb = given.text("bindVerb"),
                     .weight = given.integer("weight", 0, {.high = kLargestExtenderWeight}),
                     .enable_https = given.boolean("enableHTTPS", false),
                     .tls = {},
                     .timeout = given.duration("httpTimeout", Nanos(0)),
                     .node_cache_capable = given.boolean("nodeCacheCapable", false),
                     .managed = {},
                     .ignorable = given.boolean("ignorable", false)};
  if (out.url_prefix.empty())
    given.error("urlPrefix", "is missing");
  else if (!out.url_prefix.starts_with("http://") && !out.url_prefix.starts_with("https://"))
    given.error("urlPrefix", "expected http://host:port/path or https://…");
  if (!out.prioritize_verb.empty() && out.weight <= 0)
    given.error("weight", "must be more than 0 when there is a prioritizeVerb");
  if (out.timeout < Nanos(0)) given.error("httpTimeout", "is negative");
  if (out.timeout == Nanos(0)) out.timeout = std::chrono::seconds(5);
  if (auto tls = given.object("tlsConfig")) out.tls = read_tls(*tls);
  if (out.tls && out.tls->insecure && !(out.tls->ca_file.empty() && out.tls->ca_data.empty()))
    given.error("tlsConfig", "insecure and a certificate authority exclude each other");
  for (Fields& resource : given.objects("managedResources")) {
    ManagedResource made{.name = resource.text("name"),
                         .ignored_by_scheduler = resource.boolean("ignoredByScheduler", false)};
    if (!is_extended_resource(made.name))
      resource.error("name", fmt::format("{} is not an extended resource such as example.com/gpu",
                                         quote(made.name)));
    else if (!managed.insert(made.name).second)
      resource.error("name", fmt::format("{} is already managed by an extender", quote(made.name)));
    resource.finish();
    out.managed.push_back(std::move(made));
  }
  given.finish();
  return out;
}

json::object write_tls(const ExtenderTls& tls) {
  json::object out;
  if (tls.insecure) out["insecure"] = true;
  const auto put = [&](const char* key, const std::string& text) {
    if (!text.empty()) out[key] = text;
  };
  const auto put_data = [&](const char* key, const std::string& bytes) {
    if (!bytes.empty()) out[key] = base64_encode(bytes);
  };
  put("serverName", tls.server_name);
  put("certFile", tls.cert_file);
  put("keyFile", tls.key_file);
  put("caFile", tls.ca_file);
  put_data("certData", tls.cert_data);
  put_data("keyData", tls.key_data);
  put_data("caData", tls.ca_data);
  return out;
}

}  // namespace

std::vector<ExtenderConfig> read_extenders(Fields& root) {
  std::vector<ExtenderConfig> out;
  std::set<std::string> managed;
  bool binds = false;
  for (Fields& given : root.objects("extenders")) {
    out.push_back(read_extender(given, managed));
    if (out.back().bind_verb.empty()) continue;
    if (binds) given.error("bindVerb", "another extender already binds, and only one may");
    binds = true;
  }
  return out;
}

json::array write_extenders(const std::vector<ExtenderConfig>& extenders) {
  json::array list;
  for (const ExtenderConfig& extender : extenders) {
    json::object out{{"urlPrefix", extender.url_prefix}};
    const auto put = [&](const char* key, const std::string& text) {
      if (!text.empty()) out[key] = text;
    };
    put("filterVerb", extender.filter_verb);
    put("preemptVerb", extender.preempt_verb);
    put("prioritizeVerb", extender.prioritize_verb);
    put("bindVerb", extender.bind_verb);
    if (extender.weight != 0) out["weight"] = extender.weight;
    if (extender.enable_https) out["enableHTTPS"] = true;
    if (extender.tls) out["tlsConfig"] = write_tls(*extender.tls);
    out["httpTimeout"] = format_duration(extender.timeout);
    if (extender.node_cache_capable) out["nodeCacheCapable"] = true;
    json::array managed;
    for (const ManagedResource& resource : extender.managed) {
      json::object one{{"name", resource.name}};
      if (resource.ignored_by_scheduler) one["ignoredByScheduler"] = true;
      managed.push_back(std::move(one));
    }
    if (!managed.empty()) out["managedResources"] = std::move(managed);
    if (extender.ignorable) out["ignorable"] = true;
    list.push_back(std::move(out));
  }
  return list;
}

}  // namespace plim::sched
