//! A made-up shop in five languages: the n-th symbol of it is always the same, and neighbours share files, as they do in answers.

use wire::answers::Node;

/// Files, and the type that owns their methods if there is one.
const FILES: [(&str, &str); 12] = [
    ("services/billing/invoice.py", "InvoiceService"),
    ("services/billing/tax.py", ""),
    ("internal/payment/gateway.go", "Gateway"),
    ("internal/payment/refund.go", ""),
    ("web/src/checkout/session.ts", "CheckoutSession"),
    ("web/src/api/client.ts", ""),
    ("crates/search/src/ranking.rs", "Ranker"),
    ("crates/search/src/tokens.rs", ""),
    ("app/src/main/java/shop/order/OrderController.java", "OrderController"),
    ("app/src/main/java/shop/mail/MailQueue.java", "MailQueue"),
    ("internal/stock/reservation.go", "Reservation"),
    ("services/cart/discounts.py", "Discounts"),
];

/// Symbols of one file that follow each other.
const PER_FILE: u64 = 3;

/// After so many symbols it is the same file's turn again.
pub(super) const PER_ROUND: u64 = FILES.len() as u64 * PER_FILE;

const VERBS: [&str; 13] = [
    "load", "save", "parse", "render", "resolve", "cancel", "publish", "schedule", "merge", "validate", "encode",
    "retry", "find",
];

const NOUNS: [&str; 11] = [
    "Invoice", "Session", "Cart", "Token", "Snapshot", "Route", "Payment", "Report", "Customer", "Shipment", "Webhook",
];

/// A symbol, by its number.
#[derive(Clone, Copy)]
pub(super) struct Symbol(pub(super) u64);

/// Symbols that follow each other.
pub(super) fn symbols(start: u64, count: u64) -> impl Iterator<Item = Symbol> {
    (start..start + count).map(Symbol)
}

fn pick<T: Copy>(from: &[T], number: u64) -> T {
    from[(number % from.len() as u64) as usize]
}

impl Symbol {
    fn file(self) -> (&'static str, &'static str) {
        pick(&FILES, self.0 / PER_FILE)
    }

    pub(super) fn path(self) -> &'static str {
        self.file().0
    }

    fn language(self) -> &'static str {
        self.path().rsplit('.').next().unwrap_or_default()
    }

    pub(super) fn noun(self) -> &'static str {
        pick(&NOUNS, self.0)
    }

    /// A type now and then, else a function.
    fn is_type(self) -> bool {
        self.0 % 17 == 5
    }

    pub(super) fn kind(self) -> &'static str {
        match (self.is_type(), self.file().1.is_empty()) {
            (true, _) => "type",
            (false, true) => "function",
            (false, false) => "method",
        }
    }

    pub(super) fn name(self) -> String {
        let (verb, noun) = (pick(&VERBS, self.0), self.noun());
        match (self.is_type(), self.language()) {
            (true, _) => format!("{noun}State"),
            (_, "py" | "rs") => format!("{verb}_{}", noun.to_lowercase()),
            (_, "go") => format!("{}{}{noun}", verb[..1].to_uppercase(), &verb[1..]),
            _ => format!("{verb}{noun}"),
        }
    }

    pub(super) fn id(self) -> String {
        match self.file() {
            (path, owner) if owner.is_empty() || self.is_type() => format!("{path}::{}", self.name()),
            (path, owner) => format!("{path}::{owner}.{}", self.name()),
        }
    }

    pub(super) fn line(self) -> u64 {
        12 + self.0 * 37 % 640
    }

    pub(super) fn has_signature(self) -> bool {
        !self.is_type()
    }

    pub(super) fn signature(self) -> String {
        let (name, noun, owner) = (self.name(), self.noun(), self.file().1);
        match (self.language(), owner) {
            ("py", "") => format!(
                "def {name}({}_id: str, *, limit: int = 20) -> list[{noun}]",
                noun.to_lowercase()
            ),
            ("py", _) => format!(
                "def {name}(self, {}: {noun} | None = None) -> bool",
                noun.to_lowercase()
            ),
            ("go", "") => format!("func {name}(ctx context.Context, id string) (*{noun}, error)"),
            ("go", _) => format!("func (r *{owner}) {name}(ctx context.Context, in {noun}) error"),
            ("rs", "") => format!("pub fn {name}(text: &str) -> Result<Vec<{noun}>, Error>"),
            ("rs", _) => format!("pub fn {name}(&self, query: &Query) -> impl Iterator<Item = &{noun}>"),
            ("ts", _) => format!("async {name}(id: string, options?: {noun}Options): Promise<{noun}[]>"),
            _ => format!("public Optional<{noun}> {name}(String id, Pageable page) throws {noun}Exception"),
        }
    }

    pub(super) fn origin(self) -> &'static str {
        pick(
            &[
                "ast_resolved",
                "ast_resolved",
                "lsp_resolved",
                "ast_inferred",
                "text_matched",
            ],
            self.0,
        )
    }

    pub(super) fn confidence(self) -> f64 {
        match self.origin() {
            "lsp_resolved" => 1.0,
            "ast_resolved" => 0.95,
            "ast_inferred" => 0.7,
            _ => 0.4,
        }
    }

    /// Eight digits that look like a hash.
    pub(super) fn etag(self) -> String {
        format!("{:08x}", (self.0 as u32 + 1).wrapping_mul(0x9E37_79B1))
    }

    pub(super) fn node(&self) -> Node {
        Node {
            id: self.id(),
            kind: self.kind().into(),
            name: self.name(),
            path: self.path().into(),
            line: self.line(),
        }
    }
}

/// A function that fits on a screen.
pub(super) const SHORT_SOURCE: &str = r#"func (r *Reservation) ReleaseExpired(ctx context.Context, now time.Time) (int, error) {
	rows, err := r.db.Query(ctx, "SELECT id FROM held WHERE until < $1 FOR UPDATE SKIP LOCKED", now)
	if err != nil {
		return 0, fmt.Errorf("find what expired: %w", err)
	}
	defer rows.Close()
	released := 0
	for rows.Next() {
		released++
	}
	return released, rows.Err()
}"#;

/// A class with methods, texts and comments.
pub(super) const LONG_SOURCE: &str = r#"class InvoiceService:
    """Invoices from orders, and what follows when one is paid, late or wrong.

    An invoice is never changed once it was sent: a mistake is corrected by a credit
    note and a new invoice, so that both parties' books agree.
    """

    REMIND_AFTER = (timedelta(days=7), timedelta(days=14), timedelta(days=28))

    def __init__(self, store: Store, mail: MailQueue, clock: Callable[[], datetime] = utcnow) -> None:
        self._store = store
        self._mail = mail
        self._clock = clock

    def create(self, order: Order) -> Invoice:
        if not order.lines:
            raise EmptyOrder(f"order {order.id!r} has no lines")
        lines = [
            Line(sku=line.sku, amount=line.count * line.price, tax=tax_rate(line.sku, order.country))
            for line in order.lines
            if line.count > 0
        ]
        total = sum((line.amount * (1 + line.tax) for line in lines), start=Decimal("0.00"))
        invoice = Invoice(
            number=self._store.next_number("invoice"),
            order_id=order.id,
            lines=lines,
            total=total.quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN),
            due=self._clock().date() + order.customer.payment_term,
        )
        self._store.insert(invoice)
        logger.info("invoice %s over %s %s", invoice.number, invoice.total, order.currency)
        return invoice

    def mark_paid(self, number: str, payment: Payment) -> None:
        invoice = self._store.get(number)
        open_amount = invoice.total - invoice.paid
        if payment.amount > open_amount:
            # The difference is kept as credit; paying it back costs more than it is worth.
            self._store.add_credit(invoice.customer_id, payment.amount - open_amount)
        invoice.paid += min(payment.amount, open_amount)
        self._store.update(invoice, expected_version=invoice.version)
        if invoice.paid == invoice.total:
            self._mail.enqueue("paid", to=invoice.customer_id, number=number)

    def remind(self) -> int:
        """Sends what is due today; returns how many were sent."""
        sent = 0
        for invoice in self._store.unpaid():
            late = self._clock().date() - invoice.due
            steps = [step for step in self.REMIND_AFTER if step <= late]
            if len(steps) <= invoice.reminders:
                continue
            template = "final-notice" if len(steps) == len(self.REMIND_AFTER) else "reminder"
            self._mail.enqueue(template, to=invoice.customer_id, number=invoice.number, days=late.days)
            invoice.reminders = len(steps)
            self._store.update(invoice, expected_version=invoice.version)
            sent += 1
        return sent
"#;
