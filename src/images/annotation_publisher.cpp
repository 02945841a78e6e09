#include "base/rfc3339.hpp"
#include "images/publisher.hpp"
#include "kube/paths.hpp"
#include "loop/image_annotation.hpp"

namespace plim::images {
namespace {

// Less often than inventories are resent, more often than readers treat them as stale.
constexpr std::chrono::minutes kSayAgain{5};

class AnnotationPublisher final : public Publisher {
 public:
  AnnotationPublisher(std::shared_ptr<kube::Client> client, std::string node)
      : client_(std::move(client)), node_(std::move(node)) {}

  std::string_view name() const override { return "annotation"; }

  // Every watcher of Nodes gets the change.
  Nanos shortest_gap() const override { return std::chrono::minutes(1); }

  Task<Result<void>> publish(loop::ImageInventory inventory) override {
    std::string text = loop::annotate_images(inventory);
    // The annotation contains neither pulls nor layers.
    // A clock that was set back: readers do not believe a time that is ahead of theirs.
    const bool is_recent =
        said_ <= inventory.reported_at && inventory.reported_at - said_ < kSayAgain;
    const bool is_known = text == last_ && is_recent;
    if (is_known) co_return Result<void>();
    json::value patch;
    json::object& annotations = kube::make_object(patch, "Node.metadata.annotations");
    annotations[loop::kImagesAnnotation] = text;
    annotations[loop::kImagesTimeAnnotation] = format_rfc3339(inventory.reported_at);
    kube::ObjectPath path{.ns = {}, .name = node_};
    auto done = co_await client_->patch(kube::resources::nodes, std::move(path),
                                        kube::PatchType::merge, std::move(patch));
    if (!done) co_return done.error();
    last_ = std::move(text);
    said_ = inventory.reported_at;
    co_return Result<void>();
  }

 private:
  std::shared_ptr<kube::Client> client_;
  std::string node_, last_;
  WallTime said_{};
};

}  // namespace

std::unique_ptr<Publisher> publish_to_annotation(std::shared_ptr<kube::Client> client,
                                                 std::string node) {
  return std::make_unique<AnnotationPublisher>(std::move(client), std::move(node));
}

}  // namespace plim::images
