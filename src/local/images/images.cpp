#include "local/images/images.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/event.hpp"
#include "base/text.hpp"
#include "local/images/image_catalog.hpp"
#include "local/images/layer_store.hpp"

namespace plim::local::images {
namespace {

Nanos nanos_of(double seconds) {
  return std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(seconds));
}

double seconds_of(Nanos duration) {
  return std::chrono::duration<double>(duration).count();
}

// Pulls run in the order of their requests. Layers in transfer share the node's bandwidth, and a
// pull that needs a layer of another pull waits for it.
class PulledImages final : public NodeImages {
 public:
  PulledImages(const Executor& loop, Clock& clock, std::shared_ptr<const ImageCatalog> catalog,
               PullOptions options)
      : clock_(clock),
        catalog_(std::move(catalog)),
        options_(options),
        turn_(loop),
        rate_(loop),
        change_(loop) {
    for (const auto& image : catalog_->built_in()) store_.add(image);
  }

  Task<Result<Pulled>> ensure(std::string name, PullPolicy policy,
                              std::function<void()> started) override {
    const std::string wanted = normalise_image(name);
    if (wanted.empty())
      co_return fail(Code::invalid, fmt::format("{} is not a valid image name", quote(name)));
    Pulled out{.image = store_.find(wanted), .was_present = true};
    if (out.image && policy != PullPolicy::always) co_return out;
    if (policy == PullPolicy::never)
      co_return fail(Code::forbidden, fmt::format("image {} is not on the node", wanted));
    if (started) started();
    PLIM_CO_TRY(ImageCatalog::Found found, catalog_->find(wanted));

    const SteadyTime asked = clock_.steady();
    const Turn turn(*this);
    while (!turn.has_come()) co_await turn_.wait();
    const SteadyTime begun = clock_.steady();
    out.image = found.image;
    for (const Layer& layer : store_.missing(*out.image)) {
      while (moving_.contains(layer.digest)) co_await rate_.wait();
      if (landed_.contains(layer.digest) || store_.has_layer(layer.digest)) continue;
      co_await move(layer, found.bytes_per_second);
      out.bytes += layer.bytes;
    }
    // Even then the registry is asked.
    if (out.bytes == 0)
      co_await clock_.sleep(nanos_of(seconds_of(options_.per_layer) / options_.speedup));
    out.was_present = out.bytes == 0;
    out.took = clock_.steady() - begun;
    out.took_with_waiting = clock_.steady() - asked;
    keep(out.image);
    co_return out;
  }

  Result<void> load(std::string name) override {
    PLIM_TRY(ImageCatalog::Found found, catalog_->find(name));
    keep(std::move(found.image));
    return {};
  }

  Result<void> remove(std::string name) override {
    if (!store_.remove(normalise_image(name)))
      return fail(Code::not_found, fmt::format("image {} is not on the node", quote(name)));
    tell();
    return {};
  }

  std::vector<std::shared_ptr<const Image>> list() const override { return store_.list(); }

  void on_change(std::function<void()> callback) override { callback_ = std::move(callback); }

  Task<std::uint64_t> changed_since(std::uint64_t seen) const override {
    while (changes_ == seen) co_await change_.wait();
    co_return changes_;
  }

  std::vector<Moving> moving() const override {
    std::vector<Moving> out;
    for (const auto& [digest, transfer] : moving_) {
      const double moved = static_cast<double>(transfer.layer.bytes) - transfer.left +
                           seconds_of(clock_.steady() - transfer.since) * transfer.rate;
      const auto whole = static_cast<std::int64_t>(moved);
      out.push_back({transfer.layer, std::clamp<std::int64_t>(whole, 0, transfer.layer.bytes),
                     transfer.started});
    }
    return out;
  }

 private:
  struct Transfer {
    Layer layer;
    WallTime started;
    double left;      // bytes at the time `since`
    double rate = 0;  // bytes per second since then
    SteadyTime since = {};
  };

  // A place in the queue of pulls; leaves it however the pull ends.
  class Turn {
   public:
    explicit Turn(PulledImages& images) : images_(images), number_(images.next_turn_++) {
      images_.line_.insert(number_);
    }

    ~Turn() {
      images_.line_.erase(number_);
      images_.turn_.notify();
    }

    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool has_come() const {
      const auto last = std::ranges::next(images_.line_.begin(),
                                          static_cast<std::ptrdiff_t>(images_.options_.at_once),
                                          images_.line_.end());
      return last == images_.line_.end() || number_ < *last;
    }

   private:
    PulledImages& images_;
    std::uint64_t number_;
  };

  class OnItsWay {
   public:
    OnItsWay(PulledImages& images, const Layer& layer) : images_(images), digest_(layer.digest) {
      images_.moving_.emplace(digest_, Transfer{.layer = layer,
                                                .started = images.clock_.wall(),
                                                .left = static_cast<double>(layer.bytes),
                                                .since = images.clock_.steady()});
      images_.rate_.notify();
    }

    ~OnItsWay() {
      images_.moving_.erase(digest_);
      images_.rate_.notify();
    }

    OnItsWay(const OnItsWay&) = delete;
    OnItsWay& operator=(const OnItsWay&) = delete;

    Transfer& operator*() const { return images_.moving_.at(digest_); }

   private:
    PulledImages& images_;
    std::string digest_;
  };

  Task<void> move(Layer layer, double registry_rate) {
    const OnItsWay way(*this, layer);
    co_await clock_.sleep(nanos_of(seconds_of(options_.per_layer) / options_.speedup));
    for (Transfer& transfer = *way;;) {
      transfer.since = clock_.steady();
      transfer.rate = options_.bytes_per_second / static_cast<double>(moving_.size());
      if (registry_rate > 0) transfer.rate = std::min(transfer.rate, registry_rate);
      transfer.rate *= options_.speedup;
      const SteadyTime arrival = transfer.since + nanos_of(transfer.left / transfer.rate);
      const bool disturbed = co_await rate_.wait_until(clock_, arrival);
      if (!disturbed || clock_.steady() >= arrival) break;
      transfer.left -= seconds_of(clock_.steady() - transfer.since) * transfer.rate;
    }
    landed_.insert(layer.digest);
  }

  void keep(std::shared_ptr<const Image> image) {
    for (const Layer& layer : image->layers) landed_.erase(layer.digest);
    store_.add(std::move(image));
    tell();
  }

  void tell() {
    ++changes_;
    change_.notify();
    if (callback_) callback_();
  }

  Clock& clock_;
  std::shared_ptr<const ImageCatalog> catalog_;
  PullOptions options_;
  LayerStore store_;
  std::map<std::string, Transfer> moving_;  // by digest
  std::set<std::string> landed_;            // layers of images that are not complete yet
  std::set<std::uint64_t> line_;
  std::uint64_t next_turn_ = 0;
  Event turn_;  // a pull has ended
  Event rate_;  // the number of layers in transfer has changed
  mutable Event change_;
  std::uint64_t changes_ = 0;
  std::function<void()> callback_;
};

}  // namespace

std::unique_ptr<NodeImages> make_node_images(Executor loop, Clock& clock,
                                             std::shared_ptr<const ImageCatalog> catalog,
                                             PullOptions options) {
  return std::make_unique<PulledImages>(loop, clock, std::move(catalog), options);
}

}  // namespace plim::local::images
