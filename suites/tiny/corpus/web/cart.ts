import { formatMoney } from "./format";

export interface Line {
  article: string;
  cents: number;
  amount: number;
}

export type Listener = (lines: readonly Line[]) => void;

/** What a visitor wants to buy; it survives a reload. */
export class Cart {
  private lines: Line[] = [];
  private listeners = new Set<Listener>();

  constructor(private readonly storage: Storage) {
    this.restore();
  }

  add(article: string, cents: number, amount = 1): void {
    const line = this.lines.find((other) => other.article === article);
    if (line) {
      line.amount += amount;
    } else {
      this.lines.push({ article, cents, amount });
    }
    this.changed();
  }

  remove(article: string): void {
    this.lines = this.lines.filter((line) => line.article !== article);
    this.changed();
  }

  total(): number {
    return this.lines.reduce((sum, line) => sum + line.cents * line.amount, 0);
  }

  summary(): string {
    const pieces = this.lines.reduce((sum, line) => sum + line.amount, 0);
    return `${pieces} × ${formatMoney(this.total())}`;
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private changed(): void {
    this.storage.setItem("cart", JSON.stringify(this.lines));
    this.listeners.forEach((listener) => listener(this.lines));
  }

  private restore(): void {
    try {
      this.lines = JSON.parse(this.storage.getItem("cart") ?? "[]");
    } catch {
      this.lines = [];
    }
  }
}
