#include "kube/reflector.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace plim::kube {
namespace {

using namespace std::chrono_literals;

bool is_expired(const Error& error) {
  return error.code == Code::gone || error.code == Code::expired;
}

// The requested version is still valid; the error is temporary.
bool is_passing(const Error& error) {
  return is_retryable(error.code) || error.code == Code::internal;
}

// The answer of an API server without WatchList.
bool is_refusal(const Error& error) {
  return error.code == Code::bad_request || error.code == Code::invalid;
}

// The answer of an API server with WatchList whose etcd does not report progress (before 3.4.31 and
// 3.5.13). It comes as an event, because the watch has started already.
bool is_late_refusal(const Error& error) {
  return is_refusal(error) || error.code == Code::internal;
}

Error ended_early() {
  return fail(Code::unavailable, "the server ended the watch at once");
}

}  // namespace

Reflector::Reflector(std::shared_ptr<Client> client, Resource resource, ReflectorOptions options,
                     Target& target, Clock& clock, Random& random)
    : client_(std::move(client)),
      resource_(std::move(resource)),
      options_(std::move(options)),
      target_(target),
      clock_(clock),
      random_(random),
      backoff_(options_.backoff, random),
      watch_list_(options_.watch_list) {}

Task<void> Reflector::run() {
  for (;;) {
    Next next = Next::go_on;
    if (synced_) {
      next = co_await follow();
    } else {
      next = co_await sync();
    }
    if (next == Next::go_on) continue;
    ++stats_.failures;
    const bool healthy = clock_.steady() - last_trouble_ > options_.healthy_after;
    if (healthy || next == Next::soon) backoff_.reset();
    const Nanos pause = next == Next::soon ? soon() : backoff_.next();
    co_await clock_.sleep(std::max(pause, asked_to_wait_));
    last_trouble_ = clock_.steady();
  }
}

// Waits before reconnecting: a server that stops has many clients.
Nanos Reflector::soon() {
  return std::chrono::duration_cast<Nanos>(random_.unit() * std::chrono::duration<double>(0.1));
}

Task<Reflector::Next> Reflector::sync() {
  watch_.reset();
  target_.begin_replace();
  ++stats_.lists;
  Next next = Next::go_on;
  if (watch_list_) {
    next = co_await sync_by_watch();
  } else {
    next = co_await sync_by_list();
  }
  co_return next;
}

Task<Reflector::Next> Reflector::sync_by_list() {
  ListOptions options;
  options.ns = options_.ns;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  options.limit = paged_ ? options_.page_size : 0;
  options.resource_version = version_;
  for (;;) {
    auto page = co_await client_->list_page(resource_, options);
    if (!page) {
      // A token may expire during a long list. Without pages it cannot happen again.
      if (is_expired(page.error()) && !options.continue_token.empty()) paged_ = false;
      expire();  // servers also reject a version from the future, with a time-out
      co_return trouble(page.error());
    }
    auto meta = target_.add_page(JsonText(*page));
    if (!meta) co_return trouble(meta.error());
    options.continue_token = meta->continue_token;
    options.resource_version.clear();  // the token contains it
    if (!options.continue_token.empty()) continue;
    version_ = std::move(meta->resource_version);
    paged_ = true;
    note_synced();
    co_return Next::go_on;
  }
}

Task<Reflector::Next> Reflector::sync_by_watch() {
  auto opened = co_await open_watch(true);
  if (!opened) {
    if (is_expired(opened.error())) expire();
    if (!is_refusal(opened.error())) co_return trouble(opened.error());
    watch_list_ = false;
    co_return Next::go_on;
  }
  for (;;) {
    auto event = co_await next_event();
    if (!event || !*event) {
      watch_list_ = false;
      if (event) co_return trouble(ended_early());
      if (is_late_refusal(event.error())) co_return Next::go_on;
      if (is_expired(event.error())) expire();
      co_return trouble(event.error());
    }
    if (!(*event)->resource_version.empty()) version_ = std::move((*event)->resource_version);
    if ((*event)->initial_events_end) break;
  }
  note_synced();
  co_return Next::go_on;
}

// Runs until the watch ends or fails. If the watch delivered events or lasted long enough, the next
// one is opened soon, as in client-go.
Task<Reflector::Next> Reflector::follow() {
  if (!watch_) {
    auto opened = co_await open_watch(false);
    if (!opened) {
      if (!is_passing(opened.error())) expire();
      co_return trouble(opened.error());
    }
  }
  for (;;) {
    auto event = co_await next_event();
    if (!event || !*event) {
      watch_.reset();
      const bool lived = clock_.steady() - opened_ >= 1s;
      if (event && lived) co_return Next::go_on;
      const Error why = event ? ended_early() : std::move(event).error();
      const bool passing = is_passing(why);
      if (!passing) expire();
      trouble(why);
      co_return passing && (lived || delivered_) ? Next::soon : Next::wait;
    }
    if (!(*event)->resource_version.empty()) version_ = std::move((*event)->resource_version);
  }
}

Task<Result<void>> Reflector::open_watch(bool initial_events) {
  WatchOptions options;
  options.ns = options_.ns;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  options.send_initial_events = initial_events;
  if (!initial_events) options.resource_version = version_;
  auto extra = static_cast<double>(options_.watch_timeout.count()) * random_.unit();
  options.timeout = options_.watch_timeout + std::chrono::seconds(static_cast<int>(extra));
  options.silence = options_.silence;
  ++stats_.watches;
  auto watch = co_await client_->watch(resource_, std::move(options));
  if (!watch) co_return std::move(watch).error();
  watch_ = std::move(*watch);
  opened_ = clock_.steady();
  delivered_ = false;
  stats_.trouble.reset();
  co_return Result<void>();
}

// Applies and returns the next event; nothing at the regular end of the watch. An ERROR event gives
// the error of its Status. An undecodable event gives Code::invalid, unless the target skips it.
Task<Result<std::optional<WatchEvent>>> Reflector::next_event() {
  for (;;) {
    auto line = co_await watch_->next();
    if (!line) co_return std::move(line).error();
    if (!*line) co_return std::optional<WatchEvent>();
    ++stats_.events;
    line_ = std::move(**line);
    JsonText text(line_);
    auto event = decode_watch_event(text);
    if (!event) {
      PLIM_CO_CHECK(target_.cannot_read(std::move(event).error()));
      continue;
    }
    if (event->type == WatchEvent::Type::error) co_return std::move(event->error);
    if (event->type != WatchEvent::Type::bookmark) {
      PLIM_CO_CHECK(target_.apply(event->type, text.slice(event->object)));
      delivered_ = true;
    }
    co_return std::optional(std::move(*event));
  }
}

Reflector::Next Reflector::trouble(const Error& error) {
  asked_to_wait_ = error.retry_after.value_or(0s);
  if (error.code == Code::cancelled) return Next::wait;  // the reflector is being stopped
  stats_.trouble = error;
  log_.write(log::Level::warn, "kube", "cannot list or watch; retrying",
             {{"resource", resource_.plural}, {"error", error}});
  return Next::wait;
}

// version_ is no longer usable: list again, with the most recent version from etcd.
void Reflector::expire() {
  synced_ = false;
  version_.clear();
}

void Reflector::note_synced() {
  target_.end_replace();
  synced_ = true;
  stats_.last_sync = clock_.wall();
}

}  // namespace plim::kube
