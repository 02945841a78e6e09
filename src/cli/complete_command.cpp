// The hidden command that the completion scripts and kubectl_complete-plimsoll call.
#include <csignal>
#include <sys/time.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/cluster_access.hpp"
#include "cli/code_texts.hpp"
#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "kube/config.hpp"
#include "kube/kubeconfig.hpp"
#include "kube/paths.hpp"
#include "net/http.hpp"

namespace plim::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBudget{200};
constexpr milliseconds kRequestLimit{150};

// A slow name server, proxy or credential plug-in must not block the user's prompt, and some of
// them cannot be cancelled. So a timer ends the process; by then nothing has been written.
void end_within_budget() {
  struct sigaction action{};
  action.sa_handler = [](int) {
    constexpr std::string_view kNothing = ":4\n";
    [[maybe_unused]] auto n = ::write(STDOUT_FILENO, kNothing.data(), kNothing.size());
    ::_exit(0);
  };
  ::sigaction(SIGALRM, &action, nullptr);
  itimerval timer{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = kBudget.count() * 1000}};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

template <class T>
std::vector<Candidate> names_of(const kube::Named<T>& entries) {
  std::vector<Candidate> out;
  for (const auto& [name, value] : entries) out.push_back({name});
  return out;
}

std::vector<Candidate> kubeconfig_names(Live kind, const kube::ConfigOverrides& overrides,
                                        const kube::GetEnv& env) {
  auto files = kube::load_kubeconfig(overrides, env);
  if (!files) return {};
  switch (kind) {
    case Live::context:
      return names_of(files->contexts);
    case Live::cluster:
      return names_of(files->clusters);
    default:
      return names_of(files->users);
  }
}

std::vector<Candidate> cluster_names(std::string_view plural,
                                     const kube::ConfigOverrides& overrides,
                                     const kube::GetEnv& env) {
  auto config = kube::load_config(overrides, env);
  if (!config) return {};
  net::Request request{.path = fmt::format("/api/v1/{}", plural), .query = "limit=500"};
  request.headers.set("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  auto answer = ask(*config, std::move(request), kRequestLimit);
  if (!answer || answer->status != 200) return {};
  auto body = parse_json(answer->body);
  const json::value* items = body ? kube::find(*body, "ObjectList.items") : nullptr;
  std::vector<Candidate> out;
  if (items != nullptr && items->is_array())
    for (const json::value& item : items->get_array())
      out.push_back({std::string(kube::text_at(item, "Object.metadata.name"))});
  return out;
}

kube::ConfigOverrides overrides_of(const CursorPlace& place) {
  kube::ConfigOverrides out;
  for (const GivenFlag& given : place.flags) {
    if (given.flag->name == "kubeconfig") out.kubeconfig = given.value;
    if (given.flag->name == "context") out.context = given.value;
    if (given.flag->name == "cluster") out.cluster = given.value;
    if (given.flag->name == "user") out.user = given.value;
    if (given.flag->name == "server") out.server = given.value;
  }
  return out;
}

std::vector<Candidate> live_names(Live kind, const CursorPlace& place, const kube::GetEnv& env) {
  std::vector<Candidate> out;
  switch (kind) {
    case Live::context:
    case Live::cluster:
    case Live::user:
      return kubeconfig_names(kind, overrides_of(place), env);
    case Live::ns:
      return cluster_names("namespaces", overrides_of(place), env);
    case Live::node:
      return cluster_names("nodes", overrides_of(place), env);
    case Live::error_code:
      for (const CodeText& error : code_texts())
        out.push_back({error.code, std::string(error.title)});
      return out;
    case Live::command:
      for (const Command& command : commands())
        if (!command.hidden) out.push_back({std::string(command.name)});
      return out;
    case Live::none:
    case Live::file:
    case Live::directory:
      break;
  }
  return out;
}

}  // namespace

Outcome<int> run_complete(Context& context) {
  end_within_budget();
  LiveNames live = [&](Live kind, const CursorPlace& place) {
    return live_names(kind, place, context.world.env);
  };
  Candidates found = complete(context.arguments, live);
  std::string out;
  for (const Candidate& one : found.list) {
    out += one.text;
    if (!one.description.empty()) out += fmt::format("\t{}", one.description);
    out += '\n';
  }
  out += fmt::format(":{}\n", found.directive());
  PLIM_CLI_CHECK(context.world.out.write(out));
  return 0;
}

}  // namespace plim::cli
