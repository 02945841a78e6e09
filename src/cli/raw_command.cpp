#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/cluster_access.hpp"
#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/interruptible.hpp"
#include "cli/printer.hpp"
#include "kube/line_splitter.hpp"
#include "kube/status.hpp"

namespace plim::cli {
namespace {

constexpr std::size_t kLongestEvent = 64u << 20;

// The content type that kubectl would send for this body. A JSON patch body is a merge patch unless
// it is a list.
std::string fitting_type(std::string_view method, std::string_view body) {
  std::size_t first = body.find_first_not_of(" \t\r\n");
  char begin = first == body.npos ? '\0' : body[first];
  if (begin != '{' && begin != '[')
    return method == "PATCH" ? "application/apply-patch+yaml" : "application/yaml";
  if (method != "PATCH") return "application/json";
  return begin == '[' ? "application/json-patch+json" : "application/merge-patch+json";
}

Outcome<net::Request> make_request(const Context& context) {
  const std::string& target = context.arguments[0];
  if (!target.starts_with('/'))
    return usage_failure(Plm::wrong_arguments, fmt::format("\"{}\" is not a path", target),
                         fmt::format("it must begin with '/': /{}", target));
  auto [path, query] = cut(target, '?');
  net::Request out{.path = std::string(path), .query = std::string(query)};
  if (context.values.boolean("watch") && query.find("watch=") == query.npos)
    out.query += out.query.empty() ? "watch=true" : "&watch=true";
  bool has_data = context.values.given("data");
  out.method = context.values.text("request");
  if (out.method.empty()) out.method = has_data ? "POST" : "GET";
  out.headers.set("Accept", "application/json, */*");
  if (!has_data) return out;
  auto body = read_input(context.values.text("data"));
  if (!body) return tl::unexpected(file_failure(Plm::cannot_read, body.error()));
  out.body = std::move(*body);
  const std::string& type = context.values.text("content-type");
  out.headers.set("Content-Type", type.empty() ? fitting_type(out.method, out.body) : type);
  return out;
}

// One request and its output. Belongs to one loop.
class RawCall {
 public:
  RawCall(const Context& context, Printer printer, kube::Config config)
      : context_(context), printer_(std::move(printer)), config_(std::move(config)) {
    auto timeout = context.values.duration("timeout");
    constexpr std::chrono::hours kForever{24 * 365};
    options_.timeout = timeout.count() == 0 ? kForever : timeout;
  }

  Task<Outcome<void>> once(net::Request request) {
    Executor loop = co_await current_loop();
    auto client = kube::Client::create(loop, config_);
    if (!client) co_return tl::unexpected(config_failure(client.error()));
    auto answer = co_await (*client)->raw(std::move(request), options_);
    if (!answer) co_return tl::unexpected(failure(answer.error()));
    if (answer->status >= 300)
      co_return tl::unexpected(
          failure(kube::error_from_answer(answer->status, answer->headers, answer->body)));
    co_return print(answer->body);
  }

  Task<Outcome<void>> stream(net::Request request) {
    Executor loop = co_await current_loop();
    auto client = kube::Client::create(loop, config_);
    if (!client) co_return tl::unexpected(config_failure(client.error()));
    auto opened = co_await (*client)->raw_stream(std::move(request), options_);
    if (!opened) co_return tl::unexpected(failure(opened.error()));
    std::unique_ptr<net::ResponseStream> body = std::move(*opened);
    std::string refusal;
    kube::LineSplitter lines(kLongestEvent);
    for (;;) {
      auto piece = co_await body->next();
      if (!piece) co_return tl::unexpected(failure(piece.error()));
      if (!*piece) break;
      if (body->status() >= 300) {
        refusal += **piece;
        continue;
      }
      lines.add(**piece);
      auto printed = print_lines(lines);
      if (!printed) co_return printed;
    }
    if (body->status() >= 300)
      co_return tl::unexpected(
          failure(kube::error_from_answer(body->status(), body->headers(), refusal)));
    co_return Outcome<void>{};
  }

 private:
  Failure failure(const Error& error) const { return request_failure(error, describe(config_)); }

  Outcome<void> print(const std::string& body) {
    if (printer_.wants_raw()) {
      bool open_line =
          context_.world.terminal.is_terminal && !body.empty() && !body.ends_with('\n');
      return context_.world.out.write(open_line ? body + "\n" : body);
    }
    auto value = parse_json(body, "answer");
    if (!value) return tl::unexpected(no_json(value.error()));
    return printer_.print(*value);
  }

  Outcome<void> print_lines(kube::LineSplitter& lines) {
    for (;;) {
      auto line = lines.next();
      if (!line) return tl::unexpected(failure(line.error()));
      if (!*line) return {};
      if (printer_.wants_raw()) {
        PLIM_CLI_CHECK(context_.world.out.write(**line + "\n"));
        continue;
      }
      auto value = parse_json(**line, "event");
      if (!value) return tl::unexpected(no_json(value.error()));
      PLIM_CLI_CHECK(printer_.print_next(*value));
    }
  }

  Failure no_json(const Error& error) const {
    return Failure{.code = Plm::unexpected_answer,
                   .exit = 1,
                   .what = error.message,
                   .tried = describe(config_)};
  }

  const Context& context_;
  Printer printer_;
  kube::Config config_;
  net::CallOptions options_;
};

}  // namespace

Outcome<int> run_raw(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  PLIM_CLI_TRY(net::Request request, make_request(context));
  PLIM_CLI_TRY(kube::Config config, cluster_config(context));
  RawCall call(context, std::move(printer), std::move(config));
  Loop loop;
  bool watch = context.values.boolean("watch");
  auto outcome = run_until_signal(
      loop, watch ? call.stream(std::move(request)) : call.once(std::move(request)));
  if (!outcome) return kInterrupted;
  PLIM_CLI_CHECK(std::move(*outcome));
  return 0;
}

}  // namespace plim::cli
