#include "servo/receiver.hpp"

#include <algorithm>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "net/loopback_hosts.hpp"
#include "net/url.hpp"

namespace plim::servo {
namespace {

constexpr std::size_t kMostOfAnswer = 1 << 20;
constexpr int kMostRedirects = 5;
constexpr std::chrono::seconds kLongestRetryAfter{3600};

std::optional<std::chrono::seconds> retry_after_of(const net::Headers& headers) {
  auto wait = parse_int<std::int64_t>(trim(headers.get("Retry-After")));
  if (!wait || *wait < 0) return {};
  return std::min(std::chrono::seconds(*wait), kLongestRetryAfter);
}

Result<std::string> read_token(const std::string& file) {
  PLIM_TRY(const std::string text, read_file(file, 64 << 10));
  const std::string_view token = trim(text);
  if (auto usable = check_token(token); !usable) return usable.error().with_context(file);
  return std::string(token);
}

// The original servo takes such a URL, so it is no error.
void warn_without_tls(const Settings& settings) {
  if (settings.token.empty() && settings.token_file.empty()) return;
  const auto url = net::parse_url(settings.url->origin());
  if (!url || url->scheme != net::Url::Scheme::http || net::is_loopback_host(url->host)) return;
  log::warn("servo", "the token is sent without encryption; use an https:// address in OPTUNE_URL",
            {{"receiver", settings.url->origin()}});
}

}  // namespace

TokenSource::TokenSource(std::string token, std::string file)
    : token_(std::move(token)), file_(std::move(file)) {}

const std::string& TokenSource::current() {
  if (file_.empty()) return token_;
  struct stat info{};
  if (::stat(file_.c_str(), &info) != 0) {
    log_.write(log::Level::warn, "servo", "cannot read the token file",
               {{"error", fail_errno(errno, file_)}});
    return token_;
  }
  const Version version{info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size, info.st_ino};
  if (version_ == version) return token_;
  auto text = read_token(file_);
  if (!text) {
    log_.write(log::Level::warn, "servo", "keeping the old token", {{"error", text.error()}});
    return token_;
  }
  version_ = version;
  token_ = std::move(*text);
  return token_;
}

HttpReceiver::HttpReceiver(UrlTemplate url, TokenSource token, std::shared_ptr<net::Client> client,
                           Clock& clock)
    : url_(std::move(url)), token_(std::move(token)), client_(std::move(client)), clock_(clock) {}

Result<std::unique_ptr<HttpReceiver>> HttpReceiver::create(const Executor& loop,
                                                           const Settings& settings,
                                                           std::string ca_pem, std::string proxy,
                                                           Clock& clock) {
  PLIM_ASSERT(settings.url);
  net::ClientOptions options;
  options.tls.ca_pem = std::move(ca_pem);
  options.proxy = std::move(proxy);
  PLIM_TRY(auto client, net::Client::create(loop, settings.url->origin(), std::move(options)));
  TokenSource token(settings.token, settings.token_file);
  // At the start there is no old token to keep, and the receiver would reject posts without a token
  // for good.
  if (!settings.token_file.empty()) {
    auto text = read_token(settings.token_file);
    if (!text) return text.error().with_context("OPTUNE_AUTH_TOKEN_FILE");
  }
  warn_without_tls(settings);
  return std::unique_ptr<HttpReceiver>(
      new HttpReceiver(*settings.url, std::move(token), std::move(client), clock));
}

Task<Result<PostAnswer>> HttpReceiver::post(Message message, std::chrono::milliseconds limit) {
  const SteadyTime deadline = clock_.steady() + limit;
  UrlTemplate::Target target = url_.expand(message.subject);
  for (int hop = 0;; ++hop) {
    net::Request request{.method = "POST", .path = target.path, .query = target.query};
    request.headers.set("Content-Type", "application/json");
    if (const std::string& token = token_.current(); !token.empty())
      request.headers.set("Authorization", "Bearer " + token);
    if (!message.idempotency_key.empty())
      request.headers.set("Idempotency-Key", message.idempotency_key);
    request.body = message.body;
    const auto left = std::chrono::duration_cast<net::Millis>(
        std::max<Nanos>(deadline - clock_.steady(), Nanos(0)));
    net::CallOptions options{.timeout = left, .read_timeout = left};
    auto opened = co_await client_->open(std::move(request), options);
    if (!opened) co_return std::move(opened).error();
    std::unique_ptr<net::ResponseStream> answer = std::move(*opened);
    PostAnswer out{.status = answer->status(), .retry_after = retry_after_of(answer->headers())};
    auto next = redirect(*answer);
    co_await finish_body(answer.get(), deadline);
    if (!next || hop == kMostRedirects) co_return out;
    target = std::move(*next);
  }
}

// The receiver has sent its status, so the message has arrived even if this fails. Reading the body
// keeps the connection usable.
Task<void> HttpReceiver::finish_body(net::ResponseStream* stream, SteadyTime deadline) {
  std::size_t size = 0;
  while (size < kMostOfAnswer && clock_.steady() < deadline) {
    auto piece = co_await stream->next();
    if (!piece || !*piece) co_return;
    size += (*piece)->size();
  }
}

// Only redirects that keep the method, and only to the same origin.
std::optional<UrlTemplate::Target> HttpReceiver::redirect(const net::ResponseStream& answer) const {
  if (answer.status() != 307 && answer.status() != 308) return {};
  std::string_view place = answer.headers().get("Location");
  const std::string& origin = url_.origin();
  if (place.starts_with(origin) && (place.size() == origin.size() || place[origin.size()] == '/'))
    place.remove_prefix(origin.size());
  if (!place.starts_with('/') || place.starts_with("//")) return {};
  auto [path, query] = cut(place.substr(0, place.find('#')), '?');
  return UrlTemplate::Target{std::string(path), std::string(query)};
}

}  // namespace plim::servo
