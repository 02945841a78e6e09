#include "cli/explain_live.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "cli/cluster_access.hpp"
#include "kube/paths.hpp"
#include "kube/status.hpp"
#include "net/http.hpp"
#include "net/url.hpp"
#include "roles/local_roles.hpp"
#include "sched/explain_record.hpp"

namespace plim::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kDecision = "plimsoll.io/decision";

struct Named {
  std::string ns, name;
};

Outcome<Named> read_name(const std::string& text, const std::string& ns) {
  auto [first, rest] = cut(text, '/');
  Named out{.ns = ns, .name = std::string(first)};
  if (first.size() != text.size()) {
    if (first != "pod" && first != "pods") out.ns = first;
    out.name = rest;
  }
  if (out.name.empty() || out.ns.empty() || out.name.find('/') != std::string::npos)
    return usage_failure(Plm::wrong_arguments, fmt::format("\"{}\" is not a pod", text),
                         "write NAME or NAMESPACE/NAME");
  return out;
}

// The address of the scheduler: the flag's, else that of the local cluster of the kubeconfig.
// Several clusters may run on this machine, each with its own port.
Outcome<std::string> scheduler_url(const Context& context) {
  std::string url(text_at(roles::local_roles(context.values.text("kubeconfig"), context.world.env),
                          {"scheduler"}));
  if (url.empty() || context.values.given("scheduler")) url = context.values.text("scheduler");
  auto parsed = net::parse_url(url);
  if (!parsed || parsed->scheme != net::Url::Scheme::https)
    return usage_failure(Plm::bad_flag_value,
                         "--scheduler: " + (parsed ? quote(url) + " is not an https:// address"
                                                   : parsed.error().message),
                         "https://127.0.0.1:10259");
  return url;
}

// Explains from the pod itself why no decision exists.
std::string told_by_pod(const json::value& pod) {
  if (const std::string_view node = kube::text_at(pod, "Pod.spec.nodeName"); !node.empty())
    return fmt::format(
        "the pod is on {}; another scheduler placed it, or this one before its restart", node);
  if (const json::value* all = kube::find(pod, "Pod.status.conditions"); all && all->is_array())
    for (const json::value& one : all->get_array())
      if (kube::text_at(one, "PodCondition.type") == "PodScheduled" &&
          kube::text_at(one, "PodCondition.status") == "False")
        return fmt::format("its condition is {}: {}", kube::text_at(one, "PodCondition.reason"),
                           kube::text_at(one, "PodCondition.message"));
  return fmt::format("it waits for the scheduler {}; check --scheduler",
                     quote(kube::text_at(pod, "Pod.spec.schedulerName")));
}

Outcome<json::value> read_pod(const kube::Config& config, const Named& pod,
                              std::chrono::milliseconds timeout) {
  net::Request request{.path =
                           fmt::format("/api/v1/namespaces/{}/pods/{}", net::percent_encode(pod.ns),
                                       net::percent_encode(pod.name))};
  auto answer = ask(config, std::move(request), timeout);
  if (!answer) return tl::unexpected(request_failure(answer.error(), describe(config)));
  if (answer->status != 200) {
    Error error = kube::error_from_answer(answer->status, answer->headers, answer->body);
    if (error.code == Code::not_found) error.message += " in namespace " + pod.ns;
    return tl::unexpected(request_failure(error, describe(config)));
  }
  auto value = parse_json(answer->body, "pod");
  if (!value) return tl::unexpected(request_failure(value.error(), describe(config)));
  return std::move(*value);
}

// The request carries the credential of the kubeconfig, so the scheduler is verified even if the
// kubeconfig does not verify the API server.
Outcome<kube::Config> scheduler_config(kube::Config cluster, const std::string& url,
                                       const Values& values) {
  cluster.server = url;
  cluster.tls.insecure = false;
  cluster.tls.server_name.clear();
  const std::string& path = values.text("scheduler-ca");
  if (path.empty()) return cluster;
  auto read = read_file(path);
  if (!read) return tl::unexpected(file_failure(Plm::cannot_read, read.error()));
  cluster.tls.ca_pem = std::move(*read);
  return cluster;
}

Result<json::value> read_record(const kube::Config& config, const Named& pod,
                                const std::string& uid, const Values& values) {
  std::vector<std::pair<std::string, std::string>> query{
      {"namespace", pod.ns}, {"pod", pod.name}, {"uid", uid}};
  if (values.boolean("all-nodes")) query.emplace_back("nodes", "all");
  if (const std::string& node = values.text("why-not"); !node.empty())
    query.emplace_back("node", node);
  net::Request request{.path = "/plimsoll/v1/explain", .query = net::format_query(query)};
  PLIM_TRY(net::Response answer, ask(config, std::move(request), values.duration("timeout")));
  if (answer.status != 200) {
    auto body = parse_json(answer.body, "answer");
    const std::string said(body ? text_at(*body, {"message"}) : "");
    return fail(code_from_http(answer.status),
                said.empty() ? fmt::format("{} answered {}", config.server, answer.status) : said);
  }
  return parse_json(answer.body, config.server);
}

}  // namespace

Outcome<LiveExplanation> explain_live(Context& context, const std::string& text) {
  PLIM_CLI_TRY(kube::Config config, cluster_config(context));
  PLIM_CLI_TRY(Named pod, read_name(text, config.ns));
  PLIM_CLI_TRY(const std::string scheduler, scheduler_url(context));
  PLIM_CLI_TRY(const kube::Config asked_config,
               scheduler_config(config, scheduler, context.values));
  const auto timeout = context.values.duration("timeout");
  PLIM_CLI_TRY(json::value object, read_pod(config, pod, timeout));
  LiveExplanation out;
  out.ns = pod.ns;
  out.name = pod.name;
  out.node = kube::text_at(object, "Pod.spec.nodeName");
  auto record = read_record(asked_config, pod,
                            std::string(kube::text_at(object, "Pod.metadata.uid")), context.values);
  if (record) {
    out.record = std::move(*record);
    return out;
  }
  out.reason = record.error().message;
  const json::value* annotation = kube::find(object, "Pod.metadata.annotations", kDecision);
  std::string_view written;
  if (annotation != nullptr && annotation->is_string()) written = annotation->get_string();
  auto decision = parse_json(written, kDecision);
  if (written.empty() || !decision) {
    // True: the scheduler answered that it has no decision.
    const bool asked = record.error().code == Code::not_found;
    return tl::unexpected(Failure{
        .code = Plm::not_found,
        .exit = 4,
        .what = asked ? out.reason
                      : fmt::format("there is no decision about pod {}/{}: {}", pod.ns, pod.name,
                                    out.reason),
        .tried = scheduler,
        .next =
            asked
                ? escape_controls(told_by_pod(object))
                : "pass --scheduler with the address of the scheduler and --scheduler-ca with its "
                  "certificate authority, or --snapshot with a file"});
  }
  out.decision = std::move(*decision);
  return out;
}

bool is_no_node(Context& context, const std::string& name) {
  const auto config = cluster_config(context);
  if (!config) return false;
  net::Request request{.path = "/api/v1/nodes/" + net::percent_encode(name)};
  const auto answer = ask(*config, std::move(request), context.values.duration("timeout"));
  return answer && answer->status == 404;
}

std::string annotation_text(const LiveExplanation& found) {
  std::string out =
      fmt::format("POD     {}/{}   from the annotation of the pod ({})\nRESULT  {}  {}", found.ns,
                  found.name, escape_controls(found.reason), escape_controls(found.node),
                  int_at(found.decision, {"total"}).value_or(0));
  if (const std::string_view second = text_at(found.decision, {"runnerUp", "node"});
      !second.empty())
    out += fmt::format("   runner-up {} {}", escape_controls(second),
                       int_at(found.decision, {"runnerUp", "total"}).value_or(0));
  out += '\n';
  if (const json::value* scores = find(found.decision, {"scores"});
      scores != nullptr && scores->is_object())
    for (const auto& [plugin, score] : scores->get_object())
      if (score.is_int64())
        out += fmt::format("SCORE   {}  {}\n", escape_controls(std::string_view(plugin)),
                           score.get_int64());
  if (const std::int64_t missing = int_at(found.decision, {"missingBytes"}).value_or(0);
      missing > 0)
    out += fmt::format("IMAGES  missing {}\n", sched::image_size_text(missing));
  return out;
}

}  // namespace plim::cli
